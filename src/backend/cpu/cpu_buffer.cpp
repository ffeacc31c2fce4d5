#include "cpu/cpu_buffer.hpp"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace brisk::cpu {

Mapping::Mapping(uint64_t size, Pages pages, const std::string& purpose) : size_(size) {
  if (size == 0) return;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail(ErrorCode::out_of_memory, "cannot allocate {:.1f} MB for {}: {}", static_cast<double>(size) / 1e6, purpose,
         std::strerror(errno));
  }
  // A refusal leaves normal pages, which are as correct.
  madvise(memory, size, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) munmap(data_, size_);
}

CpuBuffer::CpuBuffer(Mapping memory, Layout layout)
    : memory_(std::move(memory)), data_(memory_.data()), size_(memory_.size()), layout_(layout) {}

CpuBuffer::CpuBuffer(const std::byte* borrowed, uint64_t size)
    : data_(const_cast<std::byte*>(borrowed)), size_(size), layout_(Layout::plain), borrowed_(true) {}

void CpuBuffer::write(uint64_t offset, std::span<const std::byte> bytes) {
  BRISK_CHECK(!borrowed_, "borrowed bytes are never written");
  BRISK_CHECK(offset <= size_ && bytes.size() <= size_ - offset, "a write stays inside its buffer");
  if (!bytes.empty()) std::memcpy(data_ + offset, bytes.data(), bytes.size());
}

void CpuBuffer::read(uint64_t offset, std::span<std::byte> out) const {
  BRISK_CHECK(offset <= size_ && out.size() <= size_ - offset, "a read stays inside its buffer");
  if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
}

void CpuBuffer::copy(uint64_t from, uint64_t to, uint64_t size) {
  BRISK_CHECK(!borrowed_, "borrowed bytes are never written");
  BRISK_CHECK(from <= size_ && size <= size_ - from && to <= size_ && size <= size_ - to,
              "a copy stays inside its buffer");
  if (size > 0) std::memmove(data_ + to, data_ + from, size);
}

}  // namespace brisk::cpu
