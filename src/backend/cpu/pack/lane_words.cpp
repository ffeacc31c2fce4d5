#include "cpu/pack/lane_words.hpp"

#include <cstring>

#include "cpu/pack/grid_words.hpp"

// Field offsets are those of docs/formats/tensor-types.md. Nibbles are handled four at a time, as bytes of a 32-bit
// word.

namespace brisk::cpu {
namespace {

constexpr uint32_t kLow4 = 0x0F0F0F0F;
constexpr uint32_t kLow2 = 0x03030303;
constexpr uint32_t kLow1 = 0x01010101;

uint32_t word(const std::byte* p) {
  uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}
uint16_t half(const std::byte* p) {
  uint16_t value;
  std::memcpy(&value, p, 2);
  return value;
}

/// Element j in the low nibble of byte j, element j + 16 in the high nibble.
LaneWords split_nibbles(const std::byte* qs) {
  LaneWords out;
  for (int j = 0; j < 4; ++j) {
    out.quad[j] = word(qs + 4 * j) & kLow4;
    out.quad[j + 4] = word(qs + 4 * j) >> 4 & kLow4;
  }
  return out;
}

/// 32 consecutive bytes, `mask` of them shifted by `shift`.
LaneWords take_bits(const std::byte* qs, int shift, uint32_t mask) {
  LaneWords out;
  for (int j = 0; j < 8; ++j) out.quad[j] = word(qs + 4 * j) >> shift & mask;
  return out;
}

void add_bits(LaneWords& to, const std::byte* plane, int shift, uint32_t mask, int at) {
  for (int j = 0; j < 8; ++j) to.quad[j] |= (word(plane + 4 * j) >> shift & mask) << at;
}

/// Bit e of `bits` becomes the fifth bit of element e.
void add_fifth_bits(LaneWords& to, uint32_t bits) {
  for (int j = 0; j < 8; ++j) {
    const uint32_t four = bits >> 4 * j & 15;
    // One multiplication puts bit i at 7 * i + i = byte i, bit 0; the masked copies do not meet.
    to.quad[j] |= (four * 0x00204081 & kLow1) << 4;
  }
}

/// Bytes of a block and the offset of its nibbles or levels, for types with one block of 32.
const std::byte* block_at(DType dtype, const std::byte* row, int64_t block) {
  const DTypeTraits& type = traits(dtype);
  return row + block * 32 / type.block_length * type.block_bytes;
}

/// Which 32 elements of its block `block` is.
int part_of(DType dtype, int64_t block) { return static_cast<int>(block % (traits(dtype).block_length / 32)); }

/// Six-bit scale and minimum of sub-block j of Q4_K and Q5_K.
uint8_t six_bits(const std::byte* scales, int j, bool minimum) {
  const auto p = [&](int i) { return std::to_integer<uint32_t>(scales[i]); };
  if (j < 4) return static_cast<uint8_t>(p(minimum ? j + 4 : j) & 63);
  if (minimum) return static_cast<uint8_t>(p(j + 4) >> 4 | p(j) >> 6 << 4);
  return static_cast<uint8_t>((p(j + 4) & 15) | p(j - 4) >> 6 << 4);
}

uint8_t q3_scale(const std::byte* scales, int g) {
  const auto p = [&](int i) { return std::to_integer<uint32_t>(scales[i]); };
  const uint32_t low = g < 8 ? p(g) & 15 : p(g - 8) >> 4;
  const uint32_t high = p(8 + g % 4) >> 2 * (g / 4) & 3;
  return static_cast<uint8_t>((low | high << 4) - 32);
}

uint8_t iq4_xs_scale(const std::byte* block, int b) {
  const uint32_t low = std::to_integer<uint32_t>(block[4 + b / 2]) >> 4 * (b % 2) & 15;
  const uint32_t high = static_cast<uint32_t>(half(block + 2)) >> 2 * b & 3;
  return static_cast<uint8_t>((low | high << 4) - 32);
}

/// Bit 7 does not count, and NaN is 0.
uint8_t ue4m3(std::byte stored) {
  const auto x = std::to_integer<uint8_t>(stored & std::byte{0x7F});
  return x == 0x7F ? 0 : x;
}

LaneWords q6_k_words(const std::byte* block, int b) {
  const int n = b / 4;
  const int s = b % 4;
  LaneWords out = take_bits(block + 64 * n + 32 * (s & 1), 4 * (s >> 1), kLow4);
  add_bits(out, block + 128 + 32 * n, 2 * s, kLow2, 4);
  return out;
}

}  // namespace

LaneWords read_lane_words(DType dtype, const std::byte* row, int64_t block) {
  const std::byte* at = block_at(dtype, row, block);
  const int b = static_cast<int>(block % 8);
  LaneWords out{};
  switch (dtype) {
    case DType::q4_0:
    case DType::iq4_nl:
      return split_nibbles(at + 2);
    case DType::q4_1:
      return split_nibbles(at + 4);
    case DType::q5_0:
      out = split_nibbles(at + 6);
      add_fifth_bits(out, word(at + 2));
      return out;
    case DType::q5_1:
      out = split_nibbles(at + 8);
      add_fifth_bits(out, word(at + 4));
      return out;
    case DType::q8_0:
      for (int j = 0; j < 8; ++j) out.quad[j] = word(at + 2 + 4 * j) ^ 0x80808080;
      return out;
    case DType::q2_k:
      return take_bits(at + 16 + 32 * (b / 4), 2 * (b % 4), kLow2);
    case DType::q3_k:
      out = take_bits(at + 32 + 32 * (b / 4), 2 * (b % 4), kLow2);
      add_bits(out, at, b, kLow1, 2);
      return out;
    case DType::q4_k:
      return take_bits(at + 16 + 32 * (b / 2), 4 * (b % 2), kLow4);
    case DType::q5_k:
      out = take_bits(at + 48 + 32 * (b / 2), 4 * (b % 2), kLow4);
      add_bits(out, at + 16, b, kLow1, 4);
      return out;
    case DType::q6_k:
      return q6_k_words(at, b);
    case DType::iq4_xs:
      return split_nibbles(at + 8 + 16 * b);
    case DType::mxfp4:
      return split_nibbles(at + 1);
    case DType::tq2_0:
      return take_bits(at + 32 * (b / 4), 2 * (b % 4), kLow2);
    default:
      return grid_words(dtype, at, part_of(dtype, block));
  }
}

LaneScales read_lane_scales(DType dtype, const std::byte* row, int64_t block) {
  const std::byte* at = block_at(dtype, row, block);
  switch (dtype) {
    case DType::q4_1:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k:
      return {half(at), half(at + 2)};
    case DType::q2_k:
      return {half(at + 80), half(at + 82)};
    case DType::q3_k:
      return {half(at + 108), 0};
    case DType::q6_k:
      return {half(at + 208), 0};
    case DType::tq1_0:
      return {half(at + 52), 0};
    case DType::tq2_0:
      return {half(at + 64), 0};
    case DType::iq1_m:
      return {iq1_m_d(at), 0};
    case DType::mxfp4:
      return {std::to_integer<uint16_t>(at[0]), 0};
    case DType::nvfp4:
      return {ue4m3(at[2 * (block % 2)]), ue4m3(at[2 * (block % 2) + 1])};
    default:
      return {half(at), 0};
  }
}

uint8_t read_sub_scale(DType dtype, const std::byte* row, int64_t block, int index) {
  const std::byte* at = block_at(dtype, row, block);
  const int b = static_cast<int>(block % 8);
  switch (dtype) {
    case DType::q2_k:
      return std::to_integer<uint8_t>(at[2 * b + index]);
    case DType::q3_k:
      return q3_scale(at + 96, 2 * b + index);
    case DType::q4_k:
    case DType::q5_k:
      return six_bits(at + 4, b, index == 1);
    case DType::q6_k:
      return std::to_integer<uint8_t>(at[192 + 2 * b + index]);
    case DType::iq4_xs:
      return iq4_xs_scale(at, b);
    default:
      return grid_sub_scale(dtype, at, b, index);
  }
}

}  // namespace brisk::cpu
