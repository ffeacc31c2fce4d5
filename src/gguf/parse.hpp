#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gguf/metadata.hpp"
#include "gguf/tensor_info.hpp"

namespace brisk::gguf {

/// Something wrong with a file. The message names field or tensor, the value found and the bound, not the file.
struct Problem {
  ErrorCode code;
  std::string message;
  std::optional<size_t> tensor;  ///< index of the tensor it is about
};

/// The header of one GGUF file. Strings and arrays of the metadata point into the parsed bytes.
struct ParsedFile {
  uint32_t version = 0;
  uint64_t declared_pairs = 0;
  uint64_t declared_tensors = 0;
  Metadata metadata;
  std::vector<TensorInfo> tensors;  ///< file index 0, offsets from the start of the file
  uint64_t alignment = 32;
  uint64_t data_start = 0;
  uint64_t data_end = 0;  ///< behind the last tensor and its padding
  std::vector<Problem> problems;
};

/// Reads and checks the whole header and that all tensor bytes are there. Throws Error at the first problem.
ParsedFile parse(std::span<const std::byte> bytes, const std::string& file_name);

/// The same checks, but goes on behind a problem where the next field is still known, and collects what it finds. A
/// tensor of an unknown type has size 0 and a dtype that find_dtype() does not know.
ParsedFile parse_damaged(std::span<const std::byte> bytes, const std::string& file_name);

}  // namespace brisk::gguf
