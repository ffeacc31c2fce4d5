#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "gguf/metadata.hpp"
#include "gguf/tensor_info.hpp"

namespace brisk::gguf {

struct OpenOptions {
  FileBytes::Mode mode = FileBytes::Mode::map;
  bool follow_splits = true;  ///< open all parts of a split model when given its first
  bool operator==(const OpenOptions&) const = default;
};

/// A GGUF model: one file, or all parts of a split one. Everything is checked at open: afterwards metadata and tensor
/// bytes may be used without further checks. Thread-safe once built.
///
/// Errors (Error, naming file and field): not_found, io, corrupt, unsupported (versions, byte order, type ids).
class Model {
 public:
  static Model open(const std::filesystem::path& path, const OpenOptions& options = {});

  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  [[nodiscard]] Metadata& metadata() noexcept { return metadata_; }
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
  [[nodiscard]] const TensorInfo* find_tensor(std::string_view name) const noexcept;
  [[nodiscard]] std::span<const std::byte> bytes_of(const TensorInfo& tensor) const noexcept;
  /// Gives the memory of mapped pages back that hold the first `size` bytes of a tensor (by default all of them); they
  /// stay readable (from the file).
  void release(const TensorInfo& tensor, uint64_t size = UINT64_MAX) const noexcept;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] uint64_t file_bytes() const noexcept;  ///< of all parts
  [[nodiscard]] uint32_t version() const noexcept { return version_; }
  [[nodiscard]] uint64_t alignment() const noexcept { return alignment_; }

 private:
  void add_part(const std::filesystem::path& path, uint64_t index, uint64_t count, FileBytes::Mode mode);

  std::filesystem::path path_;
  std::vector<FileBytes> files_;
  Metadata metadata_;
  std::vector<TensorInfo> tensors_;
  std::vector<uint32_t> by_name_;  ///< indices of tensors_ in the order of their names
  uint32_t version_ = 0;
  uint64_t alignment_ = 32;
};

}  // namespace brisk::gguf
