#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace brisk::gguf {

/// Metadata value types; the values are GGUF's ids.
enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

/// Short name as the field prints it: "u32", "str", "arr".
[[nodiscard]] std::string_view name_of(ValueType type) noexcept;
/// Bytes of one value; 0 for strings and arrays, whose size depends on the value.
[[nodiscard]] uint32_t size_of(ValueType type) noexcept;
[[nodiscard]] bool is_value_type(uint32_t id) noexcept;

/// An array value, left as its bytes in the file; elements are read when asked for, so a vocabulary of 256 k strings
/// costs one validating walk at open. Valid as long as the file's bytes.
class Array {
 public:
  Array() = default;
  Array(ValueType element, uint64_t count, std::span<const std::byte> bytes)
      : element_(element), count_(count), bytes_(bytes) {}

  [[nodiscard]] ValueType element_type() const noexcept { return element_; }
  [[nodiscard]] uint64_t size() const noexcept { return count_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// Calls `visit(index, text)` for every element in order. The element type must be string.
  template <typename Visitor>
  void for_each_string(Visitor&& visit) const {
    const std::byte* at = bytes_.data();
    for (uint64_t i = 0; i < count_; ++i) {
      uint64_t length = 0;
      __builtin_memcpy(&length, at, sizeof length);
      visit(i, std::string_view(reinterpret_cast<const char*>(at + sizeof length), length));
      at += sizeof length + length;
    }
  }

  /// Element `i` of an array of integers (any width, also bool) or floats, converted. Throws Error on another type.
  [[nodiscard]] int64_t int_at(uint64_t i) const;
  [[nodiscard]] double float_at(uint64_t i) const;

 private:
  ValueType element_ = ValueType::u8;
  uint64_t count_ = 0;
  std::span<const std::byte> bytes_;
};

/// One metadata value. Integers are widened (`type` remembers the stored width); strings and arrays point into the file
/// or into the owner of an override.
struct Value {
  ValueType type;
  std::variant<uint64_t, int64_t, double, bool, std::string_view, Array> data;
};

}  // namespace brisk::gguf
