// Blocks of 256 with integer sub-scales below one f16 scale (and one f16 scale of the minimums).
#include "quant/block_formats.hpp"

namespace brisk::quant {

namespace {

/// Two bits of elements 32 * part ..: 128 elements share 32 bytes, the four 32-wide parts lie in ascending bit pairs.
void two_bits(const std::byte* qs, int part, int8_t* q) noexcept {
  const std::byte* bytes = qs + 32 * (part / 4);
  const int shift = 2 * (part % 4);
  for (size_t i = 0; i < 32; ++i) q[i] = static_cast<int8_t>(byte_at(bytes, i) >> shift & 3);
}

/// Nibbles of elements 32 * part ..: 64 elements share 32 bytes, low nibbles first.
void four_bits(const std::byte* qs, int part, int8_t* q) noexcept {
  const std::byte* bytes = qs + 32 * (part / 2);
  const int shift = 4 * (part % 2);
  for (size_t i = 0; i < 32; ++i) q[i] = static_cast<int8_t>(byte_at(bytes, i) >> shift & 15);
}

/// Six-bit scale and minimum of sub-block `j` out of the 12 packed bytes of q4_K and q5_K.
struct ScaleMin {
  int scale;
  int min;
};
ScaleMin scale_min(const std::byte* packed, int j) noexcept {
  const auto at = [packed](int i) { return byte_at(packed, static_cast<size_t>(i)); };
  if (j < 4) return {at(j) & 63, at(j + 4) & 63};
  return {(at(j + 4) & 15) | at(j - 4) >> 6 << 4, at(j + 4) >> 4 | at(j) >> 6 << 4};
}

/// q3_K's six-bit scale of group `g`, -32..31: low nibbles in bytes 0..7, upper pairs in bytes 8..11.
int q3_scale(const std::byte* packed, int g) noexcept {
  const int low = byte_at(packed, static_cast<size_t>(g % 8)) >> (g < 8 ? 0 : 4) & 15;
  const int high = byte_at(packed, static_cast<size_t>(8 + g % 4)) >> (2 * (g / 4)) & 3;
  return (low | high << 4) - 32;
}

}  // namespace

void q2_k(const std::byte* block, int part, Levels& out) noexcept {
  const float d = half_at(block, 80);
  const float dmin = half_at(block, 82);
  for (int half = 0; half < 2; ++half) {
    const int packed = byte_at(block, static_cast<size_t>(2 * part + half));
    out.scale[half] = d * static_cast<float>(packed & 15);
    out.min[half] = -(dmin * static_cast<float>(packed >> 4));
  }
  two_bits(block + 16, part, out.q);
}

void q3_k(const std::byte* block, int part, Levels& out) noexcept {
  const float d = half_at(block, 108);
  set_scale(out, 0.0f);
  for (int half = 0; half < 2; ++half) out.scale[half] = d * static_cast<float>(q3_scale(block + 96, 2 * part + half));
  two_bits(block + 32, part, out.q);
  for (size_t i = 0; i < 32; ++i) {
    const bool high = (byte_at(block, i) >> part & 1) != 0;
    out.q[i] = static_cast<int8_t>(out.q[i] - (high ? 0 : 4));
  }
}

void q4_k(const std::byte* block, int part, Levels& out) noexcept {
  const ScaleMin packed = scale_min(block + 4, part);
  set_scale(out, half_at(block, 0) * static_cast<float>(packed.scale),
            -(half_at(block, 2) * static_cast<float>(packed.min)));
  four_bits(block + 16, part, out.q);
}

void q5_k(const std::byte* block, int part, Levels& out) noexcept {
  const ScaleMin packed = scale_min(block + 4, part);
  set_scale(out, half_at(block, 0) * static_cast<float>(packed.scale),
            -(half_at(block, 2) * static_cast<float>(packed.min)));
  four_bits(block + 48, part, out.q);
  for (size_t i = 0; i < 32; ++i) {
    out.q[i] = static_cast<int8_t>(out.q[i] | (byte_at(block, 16 + i) >> part & 1) << 4);
  }
}

void q6_k(const std::byte* block, int part, Levels& out) noexcept {
  const float d = half_at(block, 208);
  set_scale(out, 0.0f);
  for (int half = 0; half < 2; ++half) {
    out.scale[half] = d * static_cast<float>(load<int8_t>(block, static_cast<size_t>(192 + 2 * part + half)));
  }
  // Per 128 elements: 64 bytes of nibbles (parts 0, 1 low and 2, 3 high), 32 bytes with two bits for each part.
  const int within = part % 4;
  const std::byte* low = block + 64 * (part / 4) + 32 * (within % 2);
  const std::byte* high = block + 128 + 32 * (part / 4);
  for (size_t i = 0; i < 32; ++i) {
    const int nibble = byte_at(low, i) >> (4 * (within / 2)) & 15;
    const int upper = byte_at(high, i) >> (2 * within) & 3;
    out.q[i] = static_cast<int8_t>((nibble | upper << 4) - 32);
  }
}

void q8_k(const std::byte* block, int part, Levels& out) noexcept {
  set_scale(out, load<float>(block));
  std::memcpy(out.q, block + 4 + 32 * part, sizeof out.q);
}

}  // namespace brisk::quant
