#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace brisk::test {

/// A folder of its own for one test, removed at its end.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file in it and returns its path.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

/// All bytes of a file.
std::string read_file(const std::filesystem::path& path);

}  // namespace brisk::test
