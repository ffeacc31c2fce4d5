// Nibbles that index a table of 16 values: iq4's non-linear one and the doubled E2M1 of the fp4 types.
#include <bit>

#include "quant/block_formats.hpp"

namespace brisk::quant {

namespace {

constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constexpr int8_t kFp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

int iq4_value(int nibble) noexcept { return kIq4Values[nibble]; }
int fp4_value(int nibble) noexcept { return kFp4Values[nibble]; }

/// 2^(e - 128): half of E8M0, since the fp4 values are doubled. Exponents 0 and 1 are f32 subnormals.
float halved_e8m0(int e) noexcept {
  if (e < 2) return std::bit_cast<float>(0x00200000u << e);
  return std::bit_cast<float>(static_cast<uint32_t>(e - 1) << 23);
}

/// Unsigned E4M3, halved; bit 7 does not count, 0x7F (its NaN) reads as 0.
float halved_ue4m3(int x) noexcept {
  x &= 0x7F;
  if (x == 0 || x == 0x7F) return 0.0f;
  const int e = x >> 3;
  const int m = x & 7;
  if (e == 0) return static_cast<float>(m) * 0x1p-10f;
  const float power = std::bit_cast<float>(static_cast<uint32_t>(e - 8 + 127) << 23);
  return (1.0f + static_cast<float>(m) * 0.125f) * power;
}

}  // namespace

void iq4_nl(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  split_nibbles(block + 2, out.q, iq4_value);
}

void iq4_xs(const std::byte* block, int part, Levels& out) noexcept {
  const int low = byte_at(block, static_cast<size_t>(4 + part / 2)) >> (4 * (part % 2)) & 15;
  const int high = load<uint16_t>(block, 2) >> (2 * part) & 3;
  set_scale(out, half_at(block, 0) * static_cast<float>((low | high << 4) - 32));
  split_nibbles(block + 8 + 16 * part, out.q, iq4_value);
}

void mxfp4(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, halved_e8m0(byte_at(block, 0)));
  split_nibbles(block + 1, out.q, fp4_value);
}

void nvfp4(const std::byte* block, int part, Levels& out) noexcept {
  set_scale(out, 0.0f);
  for (int half = 0; half < 2; ++half) {
    const int group = 2 * part + half;
    out.scale[half] = halved_ue4m3(byte_at(block, static_cast<size_t>(group)));
    for (int i = 0; i < 8; ++i) {
      const int byte = byte_at(block, static_cast<size_t>(4 + 8 * group + i));
      out.q[16 * half + i] = kFp4Values[byte & 15];
      out.q[16 * half + 8 + i] = kFp4Values[byte >> 4];
    }
  }
}

}  // namespace brisk::quant
