#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "gguf/parse.hpp"
#include "tools/inspect.hpp"

/// Internal to inspect: what was found, before it becomes text or JSON.
namespace brisk::tools {

struct TypeTotal {
  std::string type;
  uint64_t tensors = 0;
  uint64_t elements = 0;
  uint64_t bytes = 0;
};

struct Inspection {
  std::filesystem::path path;
  std::vector<FileBytes> files;         ///< the file, then the other parts that are there
  std::vector<std::string> part_names;  ///< of `files`
  gguf::ParsedFile header;              ///< of the file; its tensors are those of all parts
  uint64_t part_number = 0;             ///< from 1; 0 when the file is no part
  uint64_t part_count = 0;
  std::vector<std::string> problems;
  std::map<size_t, std::string> tensor_problems;  ///< by index of the tensor, the first of each

  [[nodiscard]] uint64_t total_bytes() const;
};

/// "q4_K", or "?156" for an id that is no type.
[[nodiscard]] std::string type_name(const gguf::TensorInfo& tensor);

/// By falling share of bytes.
[[nodiscard]] std::vector<TypeTotal> totals_by_type(const Inspection& found);

[[nodiscard]] std::string text_report(const Inspection& found, const InspectOptions& options);
[[nodiscard]] std::string json_report(const Inspection& found, const InspectOptions& options);

/// The first elements of an array.
[[nodiscard]] gguf::Array first_elements(const gguf::Array& array, size_t limit);

/// Valid UTF-8 of at most `limit` bytes, with "..." behind it when something was left out.
[[nodiscard]] std::string shortened(std::string_view text, size_t limit);

}  // namespace brisk::tools
