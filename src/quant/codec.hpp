#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/dtype.hpp"

namespace brisk {

/// Expands `out.size()` elements (a multiple of the block length) to f32. The portable definition of every block format
/// (docs/formats/tensor-types.md); integer types are converted by value.
void decode(DType dtype, const std::byte* blocks, std::span<float> out);

/// Whether encode() knows the type (those that need no search over a grid).
[[nodiscard]] bool can_encode(DType dtype) noexcept;

/// Encodes `values` (finite, a multiple of the block length); equal to the reference encoders byte for byte.
void encode(DType dtype, std::span<const float> values, std::byte* blocks);

/// A block format seen as integers: 32 elements as value[i] = scale[i / 16] * q[i] + min[i / 16]. All scales and levels
/// are exact (no rounding beyond the f32 product that the format's decoder has itself). What the CPU's packed tiles are
/// made of.
struct Levels {
  int8_t q[32];
  float scale[2];
  float min[2];
};

/// Levels of elements 32 * index .. 32 * index + 31 of a row. Only for quantized types but q8_1 and q8_k.
void decode_levels(DType dtype, const std::byte* row, int64_t index, Levels& out);

}  // namespace brisk
