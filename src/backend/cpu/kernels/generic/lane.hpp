#pragma once

#include <string.h>

#include "cpu/kernels/generic/formats.hpp"
#include "quant/half.hpp"

// One row of a packed group, plainly: what the scalar kernels and unpack_row() read. Compiled for the baseline only.

namespace brisk::cpu {
namespace {

/// A 32-wide block of one row: value[i] = scale[i / 16] * q[i] + min[i / 16].
struct LaneBlock {
  int16_t q[32];
  float scale[2];
  float min[2];
};

struct BlockPlace {
  const uint8_t* head;
  const uint8_t* sub;     ///< sub-scales of this block
  const uint8_t* levels;  ///< levels of this block
};

inline BlockPlace block_place(const PackLayout& layout, const uint8_t* group, int64_t k, int64_t block) {
  const int64_t super = block / layout.blocks;
  const int64_t index = block % layout.blocks;
  const uint8_t* body = group + pack_body_offset(layout, k) + super * pack_body_bytes(layout);
  return {group + super * layout.head_bytes, body + index * layout.sub_bytes,
          body + layout.blocks * layout.sub_bytes + index * layout.level_bytes};
}

inline float read_half(const uint8_t* p, int lane) {
  uint16_t bits;
  memcpy(&bits, p + 2 * lane, 2);
  return f16_to_f32(bits);
}
inline float read_float(const uint8_t* p, int lane) {
  float value;
  memcpy(&value, p + 4 * lane, 4);
  return value;
}

/// The stored unsigned level of element 4 * quad + i.
inline int stored_level(LevelKind kind, const uint8_t* p, int lane, int quad, int i) {
  const int at = 4 * lane + i;
  const auto nibble = [&] { return p[64 * (quad % 4) + at] >> 4 * (quad / 4) & 15; };
  const auto two_bits = [&](const uint8_t* plane) { return plane[64 * (quad / 4) + at] >> 2 * (quad % 4) & 3; };
  const auto one_bit = [&](const uint8_t* plane) { return plane[at] >> quad & 1; };
  switch (kind) {
    case LevelKind::nibbles:
      return nibble();
    case LevelKind::nibbles_one_bit:
      return nibble() | one_bit(p + 256) << 4;
    case LevelKind::nibbles_two_bits:
      return nibble() | two_bits(p + 256) << 4;
    case LevelKind::two_bits:
      return two_bits(p);
    case LevelKind::two_bits_one_bit:
      return two_bits(p) | one_bit(p + 128) << 2;
    case LevelKind::bytes:
      return p[64 * quad + at];
    case LevelKind::kvalues:
      return kBiasedKvalues[nibble()];
    case LevelKind::none:
      break;
  }
  return 0;
}

inline void read_head(const PackLayout& layout, const uint8_t* head, int lane, LaneBlock& out) {
  const int halves = layout.wide16 ? 2 : 1;
  const bool full = layout.head == HeadKind::scale;
  for (int h = 0; h < 2; ++h) {
    const int source = h % halves;
    out.scale[h] = full ? read_float(head + 64 * source, lane) : read_half(head, lane);
    out.min[h] = 0.0f;
    if (layout.head == HeadKind::d_m || layout.head == HeadKind::d_dmin) out.min[h] = read_half(head + 32, lane);
  }
}

/// Turns d (and dmin) into the scales of the block.
inline void apply_sub_scales(SubKind kind, const uint8_t* sub, int lane, LaneBlock& out) {
  for (int h = 0; h < 2; ++h) {
    switch (kind) {
      case SubKind::none:
        break;
      case SubKind::u8_scale_min:
        out.scale[h] *= static_cast<float>(sub[lane]);
        out.min[h] = -(out.min[h] * static_cast<float>(sub[16 + lane]));
        break;
      case SubKind::i8_scale:
        out.scale[h] *= static_cast<float>(static_cast<int8_t>(sub[lane]));
        break;
      case SubKind::i8_scales:
        out.scale[h] *= static_cast<float>(static_cast<int8_t>(sub[16 * h + lane]));
        break;
      case SubKind::nibble_scales_mins:
        out.scale[h] *= static_cast<float>(sub[16 * h + lane] & 15);
        out.min[h] = -(out.min[h] * static_cast<float>(sub[16 * h + lane] >> 4));
        break;
    }
  }
}

inline LaneBlock read_lane(PackFormat format, const uint8_t* group, int64_t k, int64_t block, int lane) {
  const PackLayout& layout = pack_layout(format);
  const BlockPlace place = block_place(layout, group, k, block);
  LaneBlock out;
  read_head(layout, place.head, lane, out);
  apply_sub_scales(layout.sub, place.sub, lane, out);
  for (int e = 0; e < 32; ++e) {
    out.q[e] = static_cast<int16_t>(stored_level(layout.levels, place.levels, lane, e / 4, e % 4) - layout.offset);
  }
  return out;
}

/// Element `e` of a row of a float format.
inline float read_float_weight(PackFormat format, const uint8_t* group, int64_t e, int lane) {
  if (format == PackFormat::f32) return read_float(group + 64 * e, lane);
  uint16_t bits;
  memcpy(&bits, group + 32 * e + 2 * lane, 2);
  return format == PackFormat::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

}  // namespace
}  // namespace brisk::cpu
