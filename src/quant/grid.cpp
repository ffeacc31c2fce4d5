// Groups of 8 (iq1, iq2) or 4 (iq3) elements that are a point of a fixed grid, with signs beside it.
#include <bit>

#include "quant/block_formats.hpp"
#include "quant/tables/grids.hpp"

namespace brisk::quant {

namespace {

/// Seven stored sign bits and the eighth that makes the number of minus signs even.
uint32_t full_signs(uint32_t seven) noexcept { return seven | static_cast<uint32_t>(std::popcount(seven) & 1) << 7; }

/// `count` elements: byte i of `point`, negated where bit i of `signs` is set.
void put_signed(uint64_t point, uint32_t signs, int count, int8_t* q) noexcept {
  for (int i = 0; i < count; ++i) {
    const auto magnitude = static_cast<int8_t>(point >> (8 * i) & 255);
    q[i] = (signs >> i & 1) != 0 ? static_cast<int8_t>(-magnitude) : magnitude;
  }
}

/// Eight elements of an iq1 group as 8 * (grid + delta), delta = -1/8 or 1/8: integers, so that nothing is rounded.
void put_shifted(uint64_t point, bool negative, int8_t* q) noexcept {
  for (int i = 0; i < 8; ++i) {
    const auto value = static_cast<int8_t>(point >> (8 * i) & 255);
    q[i] = static_cast<int8_t>(8 * value + (negative ? -1 : 1));
  }
}

float iq2_scale(float d, int s) noexcept { return d * (0.5f + static_cast<float>(s)) * 0.25f; }

/// Scales of iq2_xs and iq2_s: a nibble for each 16 elements.
void set_iq2_scales(Levels& out, float d, int packed) noexcept {
  out.scale[0] = iq2_scale(d, packed & 15);
  out.scale[1] = iq2_scale(d, packed >> 4);
  out.min[0] = out.min[1] = 0.0f;
}

/// d * (2s + 1) / 8, the factor of the levels of put_shifted().
float iq1_scale(float d, int s) noexcept { return d * static_cast<float>(2 * s + 1) * 0.125f; }

}  // namespace

void iq2_xxs(const std::byte* block, int part, Levels& out) noexcept {
  const std::byte* at = block + 2 + 8 * part;
  const auto word = load<uint32_t>(at, 4);
  set_scale(out, iq2_scale(half_at(block, 0), static_cast<int>(word >> 28)));
  for (int l = 0; l < 4; ++l) {
    const int index = byte_at(at, static_cast<size_t>(l));
    put_signed(kIq2xxsGrid[index], full_signs(word >> (7 * l) & 127), 8, out.q + 8 * l);
  }
}

void iq2_xs(const std::byte* block, int part, Levels& out) noexcept {
  set_iq2_scales(out, half_at(block, 0), byte_at(block, static_cast<size_t>(66 + part)));
  for (int l = 0; l < 4; ++l) {
    const uint32_t word = load<uint16_t>(block, static_cast<size_t>(2 + 2 * (4 * part + l)));
    put_signed(kIq2xsGrid[word & 511], full_signs(word >> 9), 8, out.q + 8 * l);
  }
}

void iq2_s(const std::byte* block, int part, Levels& out) noexcept {
  set_iq2_scales(out, half_at(block, 0), byte_at(block, static_cast<size_t>(74 + part)));
  const int high = byte_at(block, static_cast<size_t>(66 + part));
  for (int l = 0; l < 4; ++l) {
    const auto group = static_cast<size_t>(4 * part + l);
    const int index = byte_at(block, 2 + group) | (high >> (2 * l) & 3) << 8;
    put_signed(kIq2sGrid[index], static_cast<uint32_t>(byte_at(block, 34 + group)), 8, out.q + 8 * l);
  }
}

void iq3_xxs(const std::byte* block, int part, Levels& out) noexcept {
  const auto word = load<uint32_t>(block, static_cast<size_t>(66 + 4 * part));
  set_scale(out, half_at(block, 0) * (0.5f + static_cast<float>(word >> 28)) * 0.5f);
  for (int k = 0; k < 8; ++k) {
    const int index = byte_at(block, static_cast<size_t>(2 + 8 * part + k));
    const uint32_t signs = full_signs(word >> (7 * (k / 2)) & 127);
    put_signed(kIq3xxsGrid[index], signs >> (4 * (k % 2)), 4, out.q + 4 * k);
  }
}

void iq3_s(const std::byte* block, int part, Levels& out) noexcept {
  const int s = byte_at(block, static_cast<size_t>(106 + part / 2)) >> (4 * (part % 2)) & 15;
  set_scale(out, half_at(block, 0) * static_cast<float>(1 + 2 * s));
  const int high = byte_at(block, static_cast<size_t>(66 + part));
  for (int k = 0; k < 8; ++k) {
    const int index = byte_at(block, static_cast<size_t>(2 + 8 * part + k)) | (high >> k & 1) << 8;
    const int signs = byte_at(block, static_cast<size_t>(74 + 4 * part + k / 2)) >> (4 * (k % 2));
    put_signed(kIq3sGrid[index], static_cast<uint32_t>(signs), 4, out.q + 4 * k);
  }
}

void iq1_s(const std::byte* block, int part, Levels& out) noexcept {
  const int high = load<uint16_t>(block, static_cast<size_t>(34 + 2 * part));
  set_scale(out, iq1_scale(half_at(block, 0), high >> 12 & 7));
  for (int l = 0; l < 4; ++l) {
    const int index = byte_at(block, static_cast<size_t>(2 + 4 * part + l)) | (high >> (3 * l) & 7) << 8;
    put_shifted(kIq1sGrid[index], (high & 0x8000) != 0, out.q + 8 * l);
  }
}

void iq1_m(const std::byte* block, int part, Levels& out) noexcept {
  // The f16 scale has no field of its own: it is the top nibbles of the four words of sub-scales.
  uint16_t words[4];
  std::memcpy(words, block + 48, sizeof words);
  const int bits = words[0] >> 12 | words[1] >> 12 << 4 | words[2] >> 12 << 8 | words[3] >> 12 << 12;
  const float d = f16_to_f32(static_cast<uint16_t>(bits));
  set_scale(out, 0.0f);
  for (int half = 0; half < 2; ++half) {
    const int group = 2 * part + half;
    out.scale[half] = iq1_scale(d, words[group / 4] >> (3 * (group % 4)) & 7);
    const int packed = byte_at(block, static_cast<size_t>(32 + group));
    for (int l = 0; l < 2; ++l) {
      const int nibble = packed >> (4 * l) & 15;
      const int index = byte_at(block, static_cast<size_t>(2 * group + l)) | (nibble & 7) << 8;
      put_shifted(kIq1sGrid[index], (nibble & 8) != 0, out.q + 16 * half + 8 * l);
    }
  }
}

}  // namespace brisk::quant
