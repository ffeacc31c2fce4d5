#pragma once

#include <memory>
#include <string>

#include "tensor/buffer.hpp"

namespace brisk::cpu {

/// Anonymous memory of the process: zero, page-aligned, physically taken when first touched.
class Mapping {
 public:
  enum class Pages { normal, huge };  ///< huge: for memory that is wholly used; else it would inflate the resident size

  Mapping() = default;
  /// Throws Error (out_of_memory) with the size and `purpose`.
  Mapping(uint64_t size, Pages pages, const std::string& purpose);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] uint64_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

/// Memory of the CPU device: owned, or the file's bytes borrowed. Packed weights are no plain host memory: host() is
/// null.
class CpuBuffer : public Buffer {
 public:
  enum class Layout { plain, packed };

  CpuBuffer(Mapping memory, Layout layout);
  /// Bytes of somebody else's that are only read.
  CpuBuffer(const std::byte* borrowed, uint64_t size);

  [[nodiscard]] uint64_t size() const noexcept override { return size_; }
  void write(uint64_t offset, std::span<const std::byte> bytes) override;
  void read(uint64_t offset, std::span<std::byte> out) const override;
  void copy(uint64_t from, uint64_t to, uint64_t size) override;
  [[nodiscard]] std::byte* host() noexcept override { return layout_ == Layout::plain && !borrowed_ ? data_ : nullptr; }

  [[nodiscard]] Layout layout() const noexcept { return layout_; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  Mapping memory_;
  std::byte* data_;
  uint64_t size_;
  Layout layout_;
  bool borrowed_ = false;
};

}  // namespace brisk::cpu
