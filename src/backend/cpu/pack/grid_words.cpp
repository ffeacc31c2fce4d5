#include "cpu/pack/grid_words.hpp"

#include <cstring>

#include "quant/tables/grids.hpp"

// Eight elements at a time as the bytes of a 64-bit word; field offsets are those of quant/grid.cpp and few_values.cpp.

namespace brisk::cpu {
namespace {

constexpr uint64_t kEach = 0x0101010101010101;

template <typename T>
T load(const std::byte* at, size_t offset) noexcept {
  T value;
  std::memcpy(&value, at + offset, sizeof value);
  return value;
}

uint32_t byte_at(const std::byte* at, size_t offset) noexcept { return std::to_integer<uint32_t>(at[offset]); }

/// Bit i of eight as bit 0 of byte i.
uint64_t spread_bits(uint32_t bits) noexcept {
  const uint64_t one_each = (bits & 255) * kEach & 0x8040201008040201;
  return (one_each + 0x7F * kEach) >> 7 & kEach;
}

/// Seven stored sign bits and the eighth that makes the number of minus signs even.
uint32_t full_signs(uint32_t seven) noexcept {
  seven &= 127;
  return seven | (0x6996 >> ((seven ^ seven >> 4) & 15) & 1) << 7;
}

void put(LaneWords& out, int eighth, uint64_t codes) noexcept {
  out.quad[2 * eighth] = static_cast<uint32_t>(codes);
  out.quad[2 * eighth + 1] = static_cast<uint32_t>(codes >> 32);
}

/// Magnitudes 0x08, 0x19, 0x2B are 0, 1, 2 in bits 4 and 5.
uint64_t iq2_codes(uint64_t point, uint32_t signs) noexcept {
  return (point >> 4 & 3 * kEach) | spread_bits(signs) << 2;
}

/// Magnitudes 0x04, 0x0C, ... 0x34, 0x3E are 0 to 7 in bits 3 to 5.
uint64_t iq3_xxs_codes(uint64_t points, uint32_t signs) noexcept {
  return (points >> 3 & 7 * kEach) | spread_bits(signs) << 3;
}

/// Magnitude 2 m + 1 is code 8 + m, its negative code 7 - m.
uint64_t iq3_s_codes(uint64_t points, uint32_t signs) noexcept {
  return (points >> 1 & 7 * kEach) ^ 8 * kEach ^ spread_bits(signs) * 15;
}

/// Values -1, 0, 1 as codes 0, 1, 2.
uint64_t iq1_codes(uint64_t point) noexcept { return ((point & 3 * kEach) + kEach) & 3 * kEach; }

uint64_t two_points(const uint32_t* grid, uint32_t first, uint32_t second) noexcept {
  return grid[first] | static_cast<uint64_t>(grid[second]) << 32;
}

/// Digit `n` of the four base-3 bytes of a word, by way of 16-bit lanes.
uint32_t ternary_digits(uint32_t word, int n) noexcept {
  constexpr uint32_t kPower[5] = {1, 3, 9, 27, 81};
  const auto digits = [&](uint32_t lanes) { return (lanes * kPower[n] & 0x00FF00FF) * 3 >> 8 & 0x00030003; };
  return digits(word & 0x00FF00FF) | digits(word >> 8 & 0x00FF00FF) << 8;
}

LaneWords iq2_xxs_words(const std::byte* block, int part) noexcept {
  const std::byte* at = block + 2 + 8 * part;
  const auto signs = load<uint32_t>(at, 4);
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const uint64_t point = quant::kIq2xxsGrid[byte_at(at, static_cast<size_t>(l))];
    put(out, l, iq2_codes(point, full_signs(signs >> 7 * l)));
  }
  return out;
}

LaneWords iq2_xs_words(const std::byte* block, int part) noexcept {
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const uint32_t word = load<uint16_t>(block, static_cast<size_t>(2 + 2 * (4 * part + l)));
    put(out, l, iq2_codes(quant::kIq2xsGrid[word & 511], full_signs(word >> 9)));
  }
  return out;
}

LaneWords iq2_s_words(const std::byte* block, int part) noexcept {
  const uint32_t high = byte_at(block, static_cast<size_t>(66 + part));
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const auto group = static_cast<size_t>(4 * part + l);
    const uint32_t index = byte_at(block, 2 + group) | (high >> 2 * l & 3) << 8;
    put(out, l, iq2_codes(quant::kIq2sGrid[index], byte_at(block, 34 + group)));
  }
  return out;
}

LaneWords iq3_xxs_words(const std::byte* block, int part) noexcept {
  const auto signs = load<uint32_t>(block, static_cast<size_t>(66 + 4 * part));
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const auto at = static_cast<size_t>(2 + 8 * part + 2 * l);
    const uint64_t points = two_points(quant::kIq3xxsGrid, byte_at(block, at), byte_at(block, at + 1));
    put(out, l, iq3_xxs_codes(points, full_signs(signs >> 7 * l)));
  }
  return out;
}

LaneWords iq3_s_words(const std::byte* block, int part) noexcept {
  const uint32_t high = byte_at(block, static_cast<size_t>(66 + part));
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const auto at = static_cast<size_t>(2 + 8 * part + 2 * l);
    const uint32_t first = byte_at(block, at) | (high >> 2 * l & 1) << 8;
    const uint32_t second = byte_at(block, at + 1) | (high >> (2 * l + 1) & 1) << 8;
    const uint32_t signs = byte_at(block, static_cast<size_t>(74 + 4 * part + l));
    put(out, l, iq3_s_codes(two_points(quant::kIq3sGrid, first, second), signs));
  }
  return out;
}

LaneWords iq1_s_words(const std::byte* block, int part) noexcept {
  const uint32_t high = load<uint16_t>(block, static_cast<size_t>(34 + 2 * part));
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const uint32_t index = byte_at(block, static_cast<size_t>(2 + 4 * part + l)) | (high >> 3 * l & 7) << 8;
    put(out, l, iq1_codes(quant::kIq1sGrid[index]));
  }
  return out;
}

LaneWords iq1_m_words(const std::byte* block, int part) noexcept {
  LaneWords out;
  for (int l = 0; l < 4; ++l) {
    const uint32_t nibble = byte_at(block, static_cast<size_t>(32 + 2 * part + l / 2)) >> 4 * (l % 2) & 15;
    const uint32_t index = byte_at(block, static_cast<size_t>(4 * part + l)) | (nibble & 7) << 8;
    put(out, l, iq1_codes(quant::kIq1sGrid[index]));
  }
  return out;
}

uint8_t iq1_s_scale(const std::byte* block, int part) noexcept {
  const uint32_t high = load<uint16_t>(block, static_cast<size_t>(34 + 2 * part));
  return static_cast<uint8_t>((2 * (high >> 12 & 7) + 1) | (~high >> 15 & 1) << 4);
}

uint8_t iq1_m_scale(const std::byte* block, int group) noexcept {
  const uint32_t scales = load<uint16_t>(block, static_cast<size_t>(48 + 2 * (group / 4)));
  const uint32_t positive = ~byte_at(block, static_cast<size_t>(32 + group));
  return static_cast<uint8_t>((2 * (scales >> 3 * (group % 4) & 7) + 1) | (positive >> 3 & 1) << 4 |
                              (positive >> 7 & 1) << 5);
}

LaneWords tq1_0_words(const std::byte* block, int part) noexcept {
  LaneWords out;
  for (int j = 0; j < 8; ++j) {
    const int e = 32 * part + 4 * j;
    if (e < 160) {  // 32 bytes, digit by digit
      out.quad[j] = ternary_digits(load<uint32_t>(block, static_cast<size_t>(e % 32)), e / 32);
    } else if (e < 240) {  // 16 bytes
      out.quad[j] = ternary_digits(load<uint32_t>(block, static_cast<size_t>(32 + (e - 160) % 16)), (e - 160) / 16);
    } else {  // 4 bytes of four digits
      out.quad[j] = ternary_digits(load<uint32_t>(block, 48), (e - 240) / 4);
    }
  }
  return out;
}

LaneWords q1_0_words(const std::byte* block, int part) noexcept {
  LaneWords out;
  for (int l = 0; l < 4; ++l) put(out, l, spread_bits(byte_at(block, static_cast<size_t>(2 + 4 * part + l))));
  return out;
}

LaneWords q2_0_words(const std::byte* block, int part) noexcept {
  LaneWords out;
  for (int j = 0; j < 8; ++j) {
    const uint32_t bits = byte_at(block, static_cast<size_t>(2 + 8 * part + j));
    out.quad[j] = (bits | bits << 6 | bits << 12 | bits << 18) & 0x03030303;
  }
  return out;
}

LaneWords nvfp4_words(const std::byte* block, int part) noexcept {
  LaneWords out;
  for (int h = 0; h < 2; ++h) {
    const auto nibbles = load<uint64_t>(block, static_cast<size_t>(4 + 8 * (2 * part + h)));
    put(out, 2 * h, nibbles & 15 * kEach);
    put(out, 2 * h + 1, nibbles >> 4 & 15 * kEach);
  }
  return out;
}

/// 2 s + 1 of the four bits `s`.
uint8_t odd_scale(uint32_t s) noexcept { return static_cast<uint8_t>(2 * (s & 15) + 1); }

}  // namespace

uint16_t iq1_m_d(const std::byte* block) noexcept {
  const auto words = load<uint64_t>(block, 48);
  return static_cast<uint16_t>((words >> 12 & 0x000F) | (words >> 24 & 0x00F0) | (words >> 36 & 0x0F00) |
                               (words >> 48 & 0xF000));
}

LaneWords grid_words(DType dtype, const std::byte* block, int part) noexcept {
  switch (dtype) {
    case DType::iq2_xxs:
      return iq2_xxs_words(block, part);
    case DType::iq2_xs:
      return iq2_xs_words(block, part);
    case DType::iq2_s:
      return iq2_s_words(block, part);
    case DType::iq3_xxs:
      return iq3_xxs_words(block, part);
    case DType::iq3_s:
      return iq3_s_words(block, part);
    case DType::iq1_s:
      return iq1_s_words(block, part);
    case DType::iq1_m:
      return iq1_m_words(block, part);
    case DType::tq1_0:
      return tq1_0_words(block, part);
    case DType::q1_0:
      return q1_0_words(block, part);
    case DType::q2_0:
      return q2_0_words(block, part);
    case DType::nvfp4:
      return nvfp4_words(block, part);
    default:
      return {};
  }
}

uint8_t grid_sub_scale(DType dtype, const std::byte* block, int part, int half) noexcept {
  switch (dtype) {
    case DType::iq2_xxs:
      return odd_scale(load<uint32_t>(block, static_cast<size_t>(6 + 8 * part)) >> 28);
    case DType::iq2_xs:
      return std::to_integer<uint8_t>(block[66 + part]);
    case DType::iq2_s:
      return std::to_integer<uint8_t>(block[74 + part]);
    case DType::iq3_xxs:
      return odd_scale(load<uint32_t>(block, static_cast<size_t>(66 + 4 * part)) >> 28);
    case DType::iq3_s:
      return odd_scale(byte_at(block, static_cast<size_t>(106 + part / 2)) >> 4 * (part % 2));
    case DType::iq1_s:
      return iq1_s_scale(block, part);
    case DType::iq1_m:
      return iq1_m_scale(block, 2 * part + half);
    default:
      return 0;
  }
}

}  // namespace brisk::cpu
