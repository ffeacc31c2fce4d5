#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace brisk::tools {

struct InspectOptions {
  bool json = false;
  size_t shown_elements = 6;  ///< of an array; the rest is counted
  size_t shown_bytes = 120;   ///< of a text
  bool operator==(const InspectOptions&) const = default;
};

/// A report on a model file, and whether nothing is wrong with it.
struct InspectResult {
  std::string text;
  bool ok = false;
};

/// Lists metadata, tensors and totals by type of a GGUF file, of all parts when it is the first of a split one. A
/// damaged file is listed as far as it goes, with what is wrong marked where it is and once more at the end; for a file
/// of another kind the report says what it is. Reads no tensor data. Throws Error (not_found, io) only when there is no
/// file to read.
InspectResult inspect(const std::filesystem::path& path, const InspectOptions& options = {});

}  // namespace brisk::tools
