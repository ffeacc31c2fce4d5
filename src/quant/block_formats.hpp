#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "quant/codec.hpp"
#include "quant/half.hpp"

/// Internal to the layer: one function a block format that reads 32 elements (number `part` of the block) as levels.
/// Field offsets and bit layouts: docs/formats/tensor-types.md.
namespace brisk::quant {

using ReadLevels = void(const std::byte* block, int part, Levels& out) noexcept;

ReadLevels q4_0, q4_1, q5_0, q5_1, q8_0, q8_1;                    // legacy.cpp
ReadLevels q2_k, q3_k, q4_k, q5_k, q6_k, q8_k;                    // k_quants.cpp
ReadLevels iq4_nl, iq4_xs, mxfp4, nvfp4;                          // sixteen_values.cpp
ReadLevels tq1_0, tq2_0, q1_0, q2_0;                              // few_values.cpp
ReadLevels iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq3_xxs, iq3_s;  // grid.cpp

/// Unaligned little-endian field at a byte offset.
template <typename T>
[[nodiscard]] inline T load(const std::byte* at, size_t offset = 0) noexcept {
  T value;
  std::memcpy(&value, at + offset, sizeof value);
  return value;
}

[[nodiscard]] inline int byte_at(const std::byte* at, size_t offset) noexcept {
  return std::to_integer<int>(at[offset]);
}

[[nodiscard]] inline float half_at(const std::byte* at, size_t offset) noexcept {
  return f16_to_f32(load<uint16_t>(at, offset));
}

/// One scale (and minimum) for all 32 elements.
inline void set_scale(Levels& out, float scale, float min = 0.0f) noexcept {
  out.scale[0] = out.scale[1] = scale;
  out.min[0] = out.min[1] = min;
}

/// Elements 0..15 from the low, 16..31 from the high nibbles of 16 bytes.
template <typename Map>
inline void split_nibbles(const std::byte* bytes, int8_t* q, Map map) noexcept {
  for (int i = 0; i < 16; ++i) {
    const int byte = byte_at(bytes, static_cast<size_t>(i));
    q[i] = static_cast<int8_t>(map(byte & 15));
    q[i + 16] = static_cast<int8_t>(map(byte >> 4));
  }
}

}  // namespace brisk::quant
