#include "test_support/paths.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace brisk::test {

namespace fs = std::filesystem;

fs::path data_file(std::string_view relative) {
  fs::path path = fs::path(BRISK_TEST_DATA_DIR) / relative;
  if (!fs::exists(path)) throw std::runtime_error("missing test data: " + path.string());
  return path;
}

std::optional<fs::path> shared_file(std::string_view relative) {
  for (const fs::path& root : {fs::path(BRISK_TEST_DATA_DIR), fs::path(BRISK_SHARED_DIR)}) {
    fs::path path = root / relative;
    if (fs::exists(path)) return path;
  }
  return std::nullopt;
}

std::optional<fs::path> real_model(std::string_view file_name) {
  fs::path folder;
  if (const char* models = std::getenv("BRISK_MODELS")) {
    folder = models;
  } else if (const char* cache = std::getenv("XDG_CACHE_HOME")) {
    folder = fs::path(cache) / "brisk" / "models";
  } else if (const char* home = std::getenv("HOME")) {
    folder = fs::path(home) / ".cache" / "brisk" / "models";
  }
  fs::path path = folder / file_name;
  if (folder.empty() || !fs::exists(path)) return std::nullopt;
  return path;
}

std::vector<float> read_f32(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  std::vector<float> values(fs::file_size(path) / sizeof(float));
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

}  // namespace brisk::test
