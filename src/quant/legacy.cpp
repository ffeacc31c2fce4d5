// Blocks of 32 with one f16 scale and, in the _1 types, one f16 minimum.
#include "quant/block_formats.hpp"

namespace brisk::quant {

void q4_0(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  split_nibbles(block + 2, out.q, [](int nibble) { return nibble - 8; });
}

void q4_1(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0), half_at(block, 2));
  split_nibbles(block + 4, out.q, [](int nibble) { return nibble; });
}

namespace {

/// Nibbles with a fifth bit each in the word before them; `offset` is added.
void five_bits(const std::byte* block, int offset, int8_t* q) noexcept {
  const auto high = load<uint32_t>(block);
  split_nibbles(block + 4, q, [](int nibble) { return nibble; });
  for (int i = 0; i < 32; ++i) q[i] = static_cast<int8_t>(q[i] + static_cast<int>(high >> i & 1) * 16 + offset);
}

}  // namespace

void q5_0(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  five_bits(block + 2, -16, out.q);
}

void q5_1(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0), half_at(block, 2));
  five_bits(block + 4, 0, out.q);
}

void q8_0(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  std::memcpy(out.q, block + 2, sizeof out.q);
}

void q8_1(const std::byte* block, int /*part*/, Levels& out) noexcept {
  set_scale(out, half_at(block, 0));
  std::memcpy(out.q, block + 4, sizeof out.q);
}

}  // namespace brisk::quant
