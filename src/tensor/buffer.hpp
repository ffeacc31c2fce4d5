#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace brisk {

/// Memory of a device. Owned by whoever allocated it; tensors refer to it. Offsets and sizes are bytes; an access
/// outside [0, size) is an internal error. Thread-safe for disjoint ranges.
class Buffer {
 public:
  virtual ~Buffer() = default;
  [[nodiscard]] virtual uint64_t size() const noexcept = 0;
  virtual void write(uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void read(uint64_t offset, std::span<std::byte> out) const = 0;
  /// Copies inside this buffer; the ranges do not overlap.
  virtual void copy(uint64_t from, uint64_t to, uint64_t size) = 0;
  /// Address of the bytes when they are plain host memory in standard layout, else nullptr.
  [[nodiscard]] virtual std::byte* host() noexcept = 0;
};

}  // namespace brisk
