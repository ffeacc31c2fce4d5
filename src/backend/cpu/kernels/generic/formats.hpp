#pragma once

#include <stdint.h>

#include "cpu/kernels/matmul_kernels.hpp"

namespace brisk::cpu {

/// Levels of a 32-wide block, in lines of 64 bytes; lane r owns bytes 4r..4r+3, byte i of a lane is for element 4j+i of
/// k-quad j:
///   nibbles (256 bytes): line j has k-quad j in the low and k-quad j+4 in the high nibbles;
///   one_bit (64): bit j for k-quad j;  two_bits (128): line h has k-quads 4h..4h+3 in bits 0-1, 2-3, 4-5, 6-7;
///   three_bits (192): line p has k-quads 2p and 2p+1 in bits 0-2 and 3-5; bits 6-7 of the lines are the low, middle
///   and high two of the six bits of k-quads 6 and 7; bytes (512): line j has k-quad j.
/// Names give the low bits first. Of an element's code c the unsigned level is c itself, but for
///   _table: entry c of the layout's table;  _doubled: 2 c;  two_bits_delta: 8 c + 2 b with b from the sub-scales.
enum class LevelKind : uint8_t {
  none,
  nibbles,
  nibbles_table,
  nibbles_doubled,
  nibbles_one_bit,
  nibbles_two_bits,
  one_bit_doubled,
  two_bits,
  two_bits_delta,
  three_bits,
  three_bits_table,
  bytes
};

/// What the head of a (super-)block holds, each for 16 rows: f16 d; f16 d, m; f16 d, dmin; half an E8M0 byte; half a
/// UE4M3 byte (0 to 0x7E) of each half.
enum class HeadKind : uint8_t { none, d, d_m, d_dmin, e8m0, ue4m3s };

/// Sub-scales of a block, one byte a row: u8 scale, u8 min; i8 scale; i8 scale of each half; scale nibble | min nibble
/// of each half; s of each half in a nibble, for s + 1/2; scale nibble, bit 4: b; scale nibble of each half, bits 4 and
/// 5: b of its 8 and 8 elements.
enum class SubKind : uint8_t {
  none,
  u8_scale_min,
  i8_scale,
  i8_scales,
  nibble_scales_mins,
  nibble_half_scales,
  delta_scale,
  delta_scales
};

/// A packed group is [heads][bodies]. Heads: one a super-block; all together rounded up to 64 bytes, so that every line
/// of a body is aligned. Body, one a super-block: [sub-scales of all its blocks][levels of all its blocks].
struct PackLayout {
  int32_t blocks;  ///< 32-wide blocks to a super-block; 0 for float formats
  HeadKind head;
  SubKind sub;
  LevelKind levels;
  int32_t offset;  ///< subtracted from the unsigned levels
  bool wide16;     ///< scales are for 16 elements, else for 32
  bool has_min;
  int32_t head_bytes;
  int32_t sub_bytes;               ///< a block
  int32_t level_bytes;             ///< a block; of a float format: bytes of one element of 16 rows
  float factor = 1.0f;             ///< power of two that d is multiplied with
  const uint8_t* table = nullptr;  ///< 16 levels
};

// Levels by code, plus the format's offset. Codes of three bits: magnitude, sign above it.
static constexpr uint8_t kIq4Table[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
static constexpr uint8_t kFp4Table[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};
static constexpr uint8_t kIq3Table[16] = {66, 74, 82, 90, 98, 106, 114, 124, 58, 50, 42, 34, 26, 18, 10, 0};
static constexpr uint8_t kIq2Table[16] = {51, 68, 86, 0, 35, 18, 0, 0, 51, 68, 86, 0, 35, 18, 0, 0};

static constexpr PackLayout kPackLayouts[kPackFormatCount] = {
    {0, HeadKind::none, SubKind::none, LevelKind::none, 0, false, false, 0, 0, 64},                          // f32
    {0, HeadKind::none, SubKind::none, LevelKind::none, 0, false, false, 0, 0, 32},                          // f16
    {0, HeadKind::none, SubKind::none, LevelKind::none, 0, false, false, 0, 0, 32},                          // bf16
    {1, HeadKind::d, SubKind::none, LevelKind::nibbles, 8, false, false, 32, 0, 256},                        // q4_0
    {1, HeadKind::d_m, SubKind::none, LevelKind::nibbles, 0, false, true, 64, 0, 256},                       // q4_1
    {1, HeadKind::d, SubKind::none, LevelKind::nibbles_one_bit, 16, false, false, 32, 0, 320},               // q5_0
    {1, HeadKind::d_m, SubKind::none, LevelKind::nibbles_one_bit, 0, false, true, 64, 0, 320},               // q5_1
    {1, HeadKind::d, SubKind::none, LevelKind::bytes, 128, false, false, 32, 0, 512},                        // q8_0
    {1, HeadKind::d, SubKind::none, LevelKind::nibbles_table, 128, false, false, 32, 0, 256, 1, kIq4Table},  // iq4_nl
    {8, HeadKind::d_dmin, SubKind::nibble_scales_mins, LevelKind::two_bits, 0, true, true, 64, 32, 128},     // q2_k
    {8, HeadKind::d, SubKind::i8_scales, LevelKind::three_bits, 4, true, false, 32, 32, 192},                // q3_k
    {8, HeadKind::d_dmin, SubKind::u8_scale_min, LevelKind::nibbles, 0, false, true, 64, 32, 256},           // q4_k
    {8, HeadKind::d_dmin, SubKind::u8_scale_min, LevelKind::nibbles_one_bit, 0, false, true, 64, 32, 320},   // q5_k
    {8, HeadKind::d, SubKind::i8_scales, LevelKind::nibbles_two_bits, 32, true, false, 32, 32, 384},         // q6_k
    {8, HeadKind::d, SubKind::i8_scale, LevelKind::nibbles_table, 128, false, false, 32, 16, 256, 1,
     kIq4Table},                                                                                               // iq4_xs
    {1, HeadKind::e8m0, SubKind::none, LevelKind::nibbles_table, 12, false, false, 16, 0, 256, 1, kFp4Table},  // mxfp4
    {1, HeadKind::ue4m3s, SubKind::none, LevelKind::nibbles_table, 12, true, false, 32, 0, 256, 1, kFp4Table},  // nvfp4
    {8, HeadKind::d, SubKind::i8_scale, LevelKind::nibbles_table, 62, false, false, 32, 16, 256, 0.25f,
     kIq3Table},                                                                                     // iq3_xxs
    {8, HeadKind::d, SubKind::i8_scale, LevelKind::nibbles_doubled, 15, false, false, 32, 16, 256},  // iq3_s
    {8, HeadKind::d, SubKind::i8_scale, LevelKind::three_bits_table, 43, false, false, 32, 16, 192, 0.125f,
     kIq2Table},  // iq2_xxs
    {8, HeadKind::d, SubKind::nibble_half_scales, LevelKind::three_bits_table, 43, true, false, 32, 16, 192, 0.25f,
     kIq2Table},                                                                                              // iq2_xs
    {8, HeadKind::d, SubKind::delta_scale, LevelKind::two_bits_delta, 9, false, false, 32, 16, 128, 0.125f},  // iq1_s
    {8, HeadKind::d, SubKind::delta_scales, LevelKind::two_bits_delta, 9, true, false, 32, 32, 128, 0.125f},  // iq1_m
    {8, HeadKind::d, SubKind::none, LevelKind::two_bits, 1, false, false, 32, 0, 128},                        // tq2_0
    {2, HeadKind::d, SubKind::none, LevelKind::two_bits, 1, false, false, 32, 0, 128},                        // q2_0
    {4, HeadKind::d, SubKind::none, LevelKind::one_bit_doubled, 1, false, false, 32, 0, 64},                  // q1_0
};

static constexpr const PackLayout& pack_layout(PackFormat format) { return kPackLayouts[static_cast<int>(format)]; }

/// The greatest unsigned level.
static constexpr int max_level(const PackLayout& layout) {
  int most = 0;
  switch (layout.levels) {
    case LevelKind::none:
      return 0;
    case LevelKind::one_bit_doubled:
      return 2;
    case LevelKind::two_bits:
      return 3;
    case LevelKind::three_bits:
      return 7;
    case LevelKind::nibbles:
      return 15;
    case LevelKind::two_bits_delta:
      return 18;
    case LevelKind::nibbles_doubled:
      return 30;
    case LevelKind::nibbles_one_bit:
      return 31;
    case LevelKind::nibbles_two_bits:
      return 63;
    case LevelKind::bytes:
      return 255;
    case LevelKind::nibbles_table:
    case LevelKind::three_bits_table:
      for (int i = 0; i < 16; ++i) most = layout.table[i] > most ? layout.table[i] : most;
  }
  return most;
}

/// Offset of the bodies in a group.
static constexpr int64_t pack_body_offset(const PackLayout& layout, int64_t k) {
  return layout.blocks == 0 ? 0 : (k / 32 / layout.blocks * layout.head_bytes + 63) / 64 * 64;
}
static constexpr int64_t pack_body_bytes(const PackLayout& layout) {
  return static_cast<int64_t>(layout.blocks) * (layout.sub_bytes + layout.level_bytes);
}
static constexpr int64_t pack_group_bytes(const PackLayout& layout, int64_t k) {
  if (layout.blocks == 0) return (k * layout.level_bytes + 63) / 64 * 64;
  return pack_body_offset(layout, k) + k / 32 / layout.blocks * pack_body_bytes(layout);
}

}  // namespace brisk::cpu
