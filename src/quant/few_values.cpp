// One scale and two, three or four values an element.
#include "quant/block_formats.hpp"

namespace brisk::quant {

namespace {

/// Digit `n` of a byte that holds base-3 digits as a fraction of 256, as -1, 0, 1.
int8_t ternary_digit(int byte, int n) noexcept {
  constexpr int kPower[5] = {1, 3, 9, 27, 81};
  const int shifted = byte * kPower[n] & 255;
  return static_cast<int8_t>((shifted * 3 >> 8) - 1);
}

}  // namespace

void tq1_0(const std::byte* block, int part, Levels& out) noexcept {
  set_scale(out, half_at(block, 52));
  for (int i = 0; i < 32; ++i) {
    const int e = 32 * part + i;
    if (e < 160) {  // 32 bytes, digit by digit
      out.q[i] = ternary_digit(byte_at(block, static_cast<size_t>(e % 32)), e / 32);
    } else if (e < 240) {  // 16 bytes
      out.q[i] = ternary_digit(byte_at(block, static_cast<size_t>(32 + (e - 160) % 16)), (e - 160) / 16);
    } else {  // 4 bytes of four digits
      out.q[i] = ternary_digit(byte_at(block, static_cast<size_t>(48 + (e - 240) % 4)), (e - 240) / 4);
    }
  }
}

void tq2_0(const std::byte* block, int part, Levels& out) noexcept {
  set_scale(out, half_at(block, 64));
  const std::byte* bytes = block + 32 * (part / 4);
  const int shift = 2 * (part % 4);
  for (size_t i = 0; i < 32; ++i) out.q[i] = static_cast<int8_t>((byte_at(bytes, i) >> shift & 3) - 1);
}

void q1_0(const std::byte* block, int part, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  const auto bits = load<uint32_t>(block, static_cast<size_t>(2 + 4 * part));
  for (int i = 0; i < 32; ++i) out.q[i] = (bits >> i & 1) != 0 ? 1 : -1;
}

void q2_0(const std::byte* block, int part, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  const std::byte* bytes = block + 2 + 8 * part;
  for (int i = 0; i < 32; ++i) {
    out.q[i] = static_cast<int8_t>((byte_at(bytes, static_cast<size_t>(i / 4)) >> (2 * (i % 4)) & 3) - 1);
  }
}

}  // namespace brisk::quant
