#include "base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace brisk {

namespace {

// /dev/zero has no end; the longest texts that are measured have some tens of MB.
constexpr size_t kLongestStream = size_t{256} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail_errno(const std::filesystem::path& path, const char* verb) {
  const int error = errno;
  const ErrorCode code = error == ENOENT ? ErrorCode::not_found : ErrorCode::io;
  fail(code, "{}: cannot {}: {}", path.string(), verb, std::strerror(error));
}

void read_all(int fd, std::byte* out, size_t size, const std::filesystem::path& path) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(fd, out + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_errno(path, "read");
    if (got == 0)
      fail(ErrorCode::io, "{}: the file shrank while it was read ({} of {} bytes)", path.string(), done, size);
    done += static_cast<size_t>(got);
  }
}

/// What comes out of a pipe or a device until its end.
std::string read_stream(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail_errno(path, "open");
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0) fail_errno(path, "read");
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kLongestStream)
      fail(ErrorCode::io, "{}: has no end within {} bytes", path.string(), kLongestStream);
  }
}

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& path, Mode mode) {
  // A pipe without a writer would hold up a blocking open for good; regular files do not care.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail_errno(path, "open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_errno(path, "stat");
  if (S_ISDIR(info.st_mode)) fail(ErrorCode::io, "{}: is a folder, expected a file", path.string());
  if (!S_ISREG(info.st_mode)) fail(ErrorCode::io, "{}: is not a regular file", path.string());
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) return;
  if (mode == Mode::map) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address != MAP_FAILED) {
      data_ = static_cast<const std::byte*>(address);
      mapped_ = true;
      return;
    }
  }
  read_into_memory(file.get(), path);
}

void FileBytes::read_into_memory(int fd, const std::filesystem::path& path) {
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(ErrorCode::out_of_memory, "{}: no memory for {} bytes", path.string(), size_);
  data_ = static_cast<const std::byte*>(memory);
  try {
    read_all(fd, static_cast<std::byte*>(memory), size_, path);
  } catch (...) {
    reset();
    throw;
  }
  // A trial, since a mapping that fails in release() could take the bytes with it.
  void* trial = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
  if (trial == MAP_FAILED) return;
  ::munmap(trial, 1);
  fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, false)),
      fd_(std::exchange(other.fd_, -1)) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    mapped_ = std::exchange(other.mapped_, false);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

FileBytes::~FileBytes() { reset(); }

void FileBytes::reset() noexcept {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  if (fd_ >= 0) ::close(fd_);
  data_ = nullptr;
  size_ = 0;
  mapped_ = false;
  fd_ = -1;
}

void FileBytes::release(size_t offset, size_t size) const noexcept {
  if ((!mapped_ && fd_ < 0) || size == 0 || offset + size > size_) return;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = (offset + page - 1) / page * page;
  const size_t last = (offset + size) / page * page;
  if (last <= first) return;
  auto* address = const_cast<std::byte*>(data_) + first;
  if (mapped_) {
    ::madvise(address, last - first, MADV_DONTNEED);
  } else {
    ::mmap(address, last - first, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd_, static_cast<off_t>(first));
  }
}

std::string read_text_file(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))) return read_stream(path);
  const FileBytes file(path, FileBytes::Mode::read);
  const auto bytes = file.bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), temporary_(path.string() + ".XXXXXX") {
  descriptor_ = ::mkstemp(temporary_.data());
  if (descriptor_ < 0) fail_errno(path, "create a temporary file beside it");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  BRISK_CHECK(descriptor_ >= 0, "nothing is written behind commit()");
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno(path_, "write");
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void AtomicFile::commit() {
  BRISK_CHECK(descriptor_ >= 0, "a file is committed once");
  // mkstemp makes files that only their owner reads.
  if (::fchmod(descriptor_, 0644) != 0) fail_errno(path_, "set the permissions");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_errno(path_, "rename onto");
  ::close(std::exchange(descriptor_, -1));
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace brisk
