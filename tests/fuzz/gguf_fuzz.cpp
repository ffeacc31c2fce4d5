// Any bytes as a GGUF file: both parsers must agree, and no input may crash, hang or allocate without bound.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "gguf/parse.hpp"
#include "gguf/writer.hpp"

namespace {

using namespace brisk;

bool strict_parser_accepts(std::span<const std::byte> bytes) {
  try {
    const gguf::ParsedFile file = gguf::parse(bytes, "fuzz.gguf");
    (void)gguf::encode_header(file.metadata, file.tensors, file.version);
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const gguf::ParsedFile damaged = gguf::parse_damaged(bytes, "fuzz.gguf");
  if (damaged.problems.empty() != strict_parser_accepts(bytes)) std::abort();
  for (const auto& [key, value] : damaged.metadata.entries()) {
    const auto* array = std::get_if<gguf::Array>(&value.data);
    if (array == nullptr || array->element_type() != gguf::ValueType::string) continue;
    size_t total = 0;
    array->for_each_string([&total](uint64_t, std::string_view text) { total += text.size(); });
    if (total > size) std::abort();
  }
  return 0;
}
