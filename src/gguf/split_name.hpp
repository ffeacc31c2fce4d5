#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace brisk::gguf {

/// The parts of a split model are named `<prefix>-%05d-of-%05d.gguf`, counted from 1.
struct SplitName {
  std::string prefix;  ///< path without the suffix
  uint32_t number;     ///< from 1
  uint32_t count;
};

[[nodiscard]] std::optional<SplitName> parse_split_name(const std::filesystem::path& path);

/// Path of part `number` (from 1).
[[nodiscard]] std::filesystem::path split_path(const std::string& prefix, uint32_t number, uint32_t count);

}  // namespace brisk::gguf
