// Encoders of the types whose scale follows from the extremes of a block. Formulas: docs/formats/tensor-types.md.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "quant/block_formats.hpp"
#include "quant/codec.hpp"

namespace brisk {

namespace {

constexpr size_t kBlock = 32;

void put_half(std::byte* at, float value) noexcept {
  const uint16_t half = f32_to_f16(value);
  std::memcpy(at, &half, sizeof half);
}

float inverse(float d) noexcept { return d != 0.0f ? 1.0f / d : 0.0f; }

/// The value whose magnitude is greatest; the first one on ties.
float signed_max(const float* x) noexcept {
  float max = 0.0f;
  for (size_t i = 0; i < kBlock; ++i) {
    if (std::fabs(x[i]) > std::fabs(max)) max = x[i];
  }
  return max;
}

void put_nibbles(std::byte* at, const int* q) noexcept {
  for (size_t i = 0; i < kBlock / 2; ++i) at[i] = static_cast<std::byte>((q[i] & 15) | (q[i + 16] & 15) << 4);
}

void put_fifth_bits(std::byte* at, const int* q) noexcept {
  uint32_t bits = 0;
  for (size_t i = 0; i < kBlock; ++i) bits |= static_cast<uint32_t>(q[i] >> 4 & 1) << i;
  std::memcpy(at, &bits, sizeof bits);
}

/// Levels -half..half-1 shifted by `half`: the extreme value gets the level -half, which exists while +half does not.
float symmetric_levels(const float* x, int half, int* q) noexcept {
  const float d = signed_max(x) / static_cast<float>(-half);
  const float id = inverse(d);
  for (size_t i = 0; i < kBlock; ++i) {
    q[i] = std::min(2 * half - 1, static_cast<int>(x[i] * id + (static_cast<float>(half) + 0.5f)));
  }
  return d;
}

struct ScaleAndMin {
  float scale;
  float min;
};

/// Levels 0..top between the least and the greatest value.
ScaleAndMin ranged_levels(const float* x, int top, int* q) noexcept {
  const auto [low, high] = std::minmax_element(x, x + kBlock);
  const float min = *low;
  const float d = (*high - min) / static_cast<float>(top);
  const float id = inverse(d);
  for (size_t i = 0; i < kBlock; ++i) q[i] = std::min(top, static_cast<int>((x[i] - min) * id + 0.5f));
  return {d, min};
}

void encode_q4_0(const float* x, std::byte* block) noexcept {
  int q[kBlock];
  put_half(block, symmetric_levels(x, 8, q));
  put_nibbles(block + 2, q);
}

void encode_q4_1(const float* x, std::byte* block) noexcept {
  int q[kBlock];
  const ScaleAndMin fit = ranged_levels(x, 15, q);
  put_half(block, fit.scale);
  put_half(block + 2, fit.min);
  put_nibbles(block + 4, q);
}

void encode_q5_0(const float* x, std::byte* block) noexcept {
  int q[kBlock];
  put_half(block, symmetric_levels(x, 16, q));
  put_fifth_bits(block + 2, q);
  put_nibbles(block + 6, q);
}

void encode_q5_1(const float* x, std::byte* block) noexcept {
  int q[kBlock];
  const ScaleAndMin fit = ranged_levels(x, 31, q);
  put_half(block, fit.scale);
  put_half(block + 2, fit.min);
  put_fifth_bits(block + 4, q);
  put_nibbles(block + 8, q);
}

void encode_q8_0(const float* x, std::byte* block) noexcept {
  const float d = std::fabs(signed_max(x)) / 127.0f;
  const float id = inverse(d);
  put_half(block, d);
  for (size_t i = 0; i < kBlock; ++i) block[2 + i] = static_cast<std::byte>(std::lround(x[i] * id));
}

using EncodeBlock = void(const float* x, std::byte* block) noexcept;

EncodeBlock* block_encoder(DType dtype) noexcept {
  switch (dtype) {
    case DType::q4_0:
      return encode_q4_0;
    case DType::q4_1:
      return encode_q4_1;
    case DType::q5_0:
      return encode_q5_0;
    case DType::q5_1:
      return encode_q5_1;
    case DType::q8_0:
      return encode_q8_0;
    default:
      return nullptr;
  }
}

template <typename Convert>
void encode_halves(std::span<const float> values, std::byte* out, Convert convert) noexcept {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = convert(values[i]);
    std::memcpy(out + i * sizeof half, &half, sizeof half);
  }
}

}  // namespace

bool can_encode(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || block_encoder(dtype) != nullptr;
}

void encode(DType dtype, std::span<const float> values, std::byte* blocks) {
  const DTypeTraits& type = traits(dtype);
  BRISK_CHECK(values.size() % type.block_length == 0, "rows of a block format are whole blocks");
  if (dtype == DType::f32) {
    std::memcpy(blocks, values.data(), values.size_bytes());
  } else if (dtype == DType::f16) {
    encode_halves(values, blocks, f32_to_f16);
  } else if (dtype == DType::bf16) {
    encode_halves(values, blocks, f32_to_bf16);
  } else {
    EncodeBlock* encode_block = block_encoder(dtype);
    BRISK_CHECK(encode_block != nullptr, "the caller asks can_encode() first");
    for (size_t i = 0; i < values.size(); i += kBlock, blocks += type.block_bytes) encode_block(&values[i], blocks);
  }
}

}  // namespace brisk
