#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace brisk {

/// The bytes of a file, read-only: mapped, or read into memory when mapping is off. Move-only; unmaps when destroyed.
/// Errors: not_found, io, with the path and the system's reason.
class FileBytes {
 public:
  enum class Mode { map, read };

  FileBytes() = default;
  FileBytes(const std::filesystem::path& path, Mode mode);
  FileBytes(FileBytes&& other) noexcept;
  FileBytes& operator=(FileBytes&& other) noexcept;
  ~FileBytes();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] bool mapped() const noexcept { return mapped_; }

  /// Gives the physical pages wholly inside [offset, offset + size) back to the system; they are read again from the
  /// file if touched. No effect on a file that was read into memory and that its file system cannot map.
  void release(size_t offset, size_t size) const noexcept;

 private:
  void read_into_memory(int fd, const std::filesystem::path& path);
  void reset() noexcept;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  int fd_ = -1;  ///< of a file in memory: what release() maps in its place
};

/// Whole file as text, or what comes out of a pipe or device until its end (at most 256 MiB). Errors as FileBytes.
std::string read_text_file(const std::filesystem::path& path);

/// A file that is written piece by piece under a temporary name beside `path` and gets its name at commit(): a reader
/// never sees half a file. Without commit() the destructor removes it. Errors: not_found, io.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::filesystem::path path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// The same for bytes that are all there.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace brisk
