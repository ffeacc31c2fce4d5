#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace brisk {

/// a * b, or nullopt when the product does not fit.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
  T out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nullopt when the sum does not fit.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// `value` rounded up to a multiple of `alignment` (a power of two), or nullopt when it does not fit.
[[nodiscard]] constexpr std::optional<uint64_t> checked_align(uint64_t value, uint64_t alignment) {
  auto sum = checked_add<uint64_t>(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

}  // namespace brisk
