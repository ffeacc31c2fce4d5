#pragma once

#include <stdint.h>

#include "cpu/kernels/matmul_kernels.hpp"

namespace brisk::cpu {

/// Levels of a 32-wide block, in lines of 64 bytes; lane r owns bytes 4r..4r+3, byte i of a lane is for element 4j+i of
/// k-quad j:
///   nibbles (256 bytes): line j has k-quad j in the low and k-quad j+4 in the high nibbles;
///   one_bit (64): bit j for k-quad j;  two_bits (128): line h has k-quads 4h..4h+3 in bits 0-1, 2-3, 4-5, 6-7;
///   bytes (512): line j has k-quad j.
/// Names give the low bits first.
enum class LevelKind : uint8_t {
  none,
  nibbles,
  nibbles_one_bit,
  nibbles_two_bits,
  two_bits,
  two_bits_one_bit,
  bytes,
  kvalues
};

/// What the head of a (super-)block holds, each for 16 rows: f16 d; f16 d, m; f16 d, dmin; f32 scale (of each
/// half).
enum class HeadKind : uint8_t { none, d, d_m, d_dmin, scale };

/// Sub-scales of a block, one byte a row: u8 scale, u8 min; i8 scale; i8 scale of each half; scale nibble | min nibble
/// of each half.
enum class SubKind : uint8_t { none, u8_scale_min, i8_scale, i8_scales, nibble_scales_mins };

/// A packed group is [heads][bodies]. Heads: one a super-block; all together rounded up to 64 bytes, so that every line
/// of a body is aligned. Body, one a super-block: [sub-scales of all its blocks][levels of all its blocks].
struct PackLayout {
  int32_t blocks;  ///< 32-wide blocks to a super-block; 0 for float formats
  HeadKind head;
  SubKind sub;
  LevelKind levels;
  int32_t offset;  ///< subtracted from the stored unsigned levels
  bool wide16;     ///< scales are for 16 elements, else for 32
  bool has_min;
  int32_t head_bytes;
  int32_t sub_bytes;    ///< a block
  int32_t level_bytes;  ///< a block; of a float format: bytes of one element of 16 rows
};

inline constexpr PackLayout kPackLayouts[kPackFormatCount] = {
    {0, HeadKind::none, SubKind::none, LevelKind::none, 0, false, false, 0, 0, 64},                         // f32
    {0, HeadKind::none, SubKind::none, LevelKind::none, 0, false, false, 0, 0, 32},                         // f16
    {0, HeadKind::none, SubKind::none, LevelKind::none, 0, false, false, 0, 0, 32},                         // bf16
    {1, HeadKind::d, SubKind::none, LevelKind::nibbles, 8, false, false, 32, 0, 256},                       // q4_0
    {1, HeadKind::d_m, SubKind::none, LevelKind::nibbles, 0, false, true, 64, 0, 256},                      // q4_1
    {1, HeadKind::d, SubKind::none, LevelKind::nibbles_one_bit, 16, false, false, 32, 0, 320},              // q5_0
    {1, HeadKind::d_m, SubKind::none, LevelKind::nibbles_one_bit, 0, false, true, 64, 0, 320},              // q5_1
    {1, HeadKind::d, SubKind::none, LevelKind::bytes, 128, false, false, 32, 0, 512},                       // q8_0
    {1, HeadKind::d, SubKind::none, LevelKind::kvalues, 128, false, false, 32, 0, 256},                     // iq4_nl
    {8, HeadKind::d_dmin, SubKind::nibble_scales_mins, LevelKind::two_bits, 0, true, true, 64, 32, 128},    // q2_k
    {8, HeadKind::d, SubKind::i8_scales, LevelKind::two_bits_one_bit, 4, true, false, 32, 32, 192},         // q3_k
    {8, HeadKind::d_dmin, SubKind::u8_scale_min, LevelKind::nibbles, 0, false, true, 64, 32, 256},          // q4_k
    {8, HeadKind::d_dmin, SubKind::u8_scale_min, LevelKind::nibbles_one_bit, 0, false, true, 64, 32, 320},  // q5_k
    {8, HeadKind::d, SubKind::i8_scales, LevelKind::nibbles_two_bits, 32, true, false, 32, 32, 384},        // q6_k
    {8, HeadKind::d, SubKind::i8_scale, LevelKind::kvalues, 128, false, false, 32, 16, 256},                // iq4_xs
    {1, HeadKind::scale, SubKind::none, LevelKind::bytes, 128, false, false, 64, 0, 512},                   // tile32
    {1, HeadKind::scale, SubKind::none, LevelKind::bytes, 128, true, false, 128, 0, 512},                   // tile16
};

/// Levels of the kvalues formats, biased by 128.
inline constexpr uint8_t kBiasedKvalues[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};

static constexpr const PackLayout& pack_layout(PackFormat format) { return kPackLayouts[static_cast<int>(format)]; }

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
