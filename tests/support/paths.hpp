#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace brisk::test {

/// A file below tests/data; throws when it is missing, since the repository carries it.
std::filesystem::path data_file(std::string_view relative);

/// A file or folder of the shared folder (golden/, data/); nullopt where that folder is absent. Looks in tests/data
/// first.
std::optional<std::filesystem::path> shared_file(std::string_view relative);

/// A real model in $BRISK_MODELS or the default model folder; nullopt when it was not fetched (scripts/test --models).
std::optional<std::filesystem::path> real_model(std::string_view file_name);

/// The little-endian f32 values of a whole file.
std::vector<float> read_f32(const std::filesystem::path& path);

}  // namespace brisk::test

/// Skips a test whose data is not here; `what` names the file.
#define BRISK_SKIP_WITHOUT(optional_path, what) \
  if (!(optional_path)) GTEST_SKIP() << "needs " << (what) << ", which is not here"
