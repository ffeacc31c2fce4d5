// A vocabulary and a text, both from the input: the first byte chooses the kind and the pre-tokenizer, then come token
// lines (their first byte is the type) up to an empty line, then merge lines up to an empty line, then the text.

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/metadata.hpp"
#include "tokenizer/stream_decoder.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

namespace tok = brisk::tokenizer;

std::vector<std::string> take_lines(std::string_view& rest) {
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.empty()) break;
    lines.emplace_back(line);
  }
  return lines;
}

brisk::gguf::Metadata make_metadata(uint8_t choice, std::string_view& rest) {
  constexpr std::string_view kModels[] = {"llama", "gpt2", "gemma4", "whitespace", "hybriddna"};
  const auto pres = tok::pre_tokenizers();
  brisk::gguf::Metadata metadata("fuzz.gguf");
  metadata.set_string("tokenizer.ggml.model", choice < 128 ? "gpt2" : kModels[choice % std::size(kModels)]);
  metadata.set_string("tokenizer.ggml.pre", pres[choice % pres.size()].name);
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  std::vector<float> scores;
  for (const std::string& line : take_lines(rest)) {
    types.push_back(line[0] & 7);
    scores.push_back(static_cast<float>(line[0] >> 3));
    texts.push_back(line.substr(1));
  }
  metadata.set_strings("tokenizer.ggml.tokens", texts);
  metadata.set_numbers("tokenizer.ggml.token_type", brisk::gguf::ValueType::i32, std::as_bytes(std::span(types)));
  metadata.set_numbers("tokenizer.ggml.scores", brisk::gguf::ValueType::f32, std::as_bytes(std::span(scores)));
  metadata.set_strings("tokenizer.ggml.merges", take_lines(rest));
  return metadata;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const brisk::gguf::Metadata metadata = make_metadata(data[0], rest);
    const auto tokenizer = tok::Tokenizer::load(metadata, {.llama_cpp_compat = (size & 1) != 0});
    tok::StreamDecoder stream(*tokenizer, true);
    for (const bool parse_special : {false, true}) {
      std::string streamed;
      std::string joined;
      for (const int32_t id : tokenizer->encode(rest, {.add_special = true, .parse_special = parse_special})) {
        if (!tokenizer->vocab().is_valid(id)) std::abort();
        streamed += stream.push(id);
        joined += tokenizer->piece(id, true);
      }
      if (streamed + stream.flush() != joined) std::abort();
    }
  } catch (const brisk::Error& error) {
    if (error.code() == brisk::ErrorCode::internal) std::abort();
  }
  return 0;
}
