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

/// The stored code of element 4 * quad + i.
inline int stored_code(LevelKind kind, const uint8_t* p, int lane, int quad, int i) {
  const int at = 4 * lane + i;
  const auto nibble = [&] { return p[64 * (quad % 4) + at] >> 4 * (quad / 4) & 15; };
  const auto two_bits = [&](const uint8_t* plane) { return plane[64 * (quad / 4) + at] >> 2 * (quad % 4) & 3; };
  const auto one_bit = [&](const uint8_t* plane) { return plane[at] >> quad & 1; };
  const auto three_bits = [&] {
    const int pair = quad < 6 ? p[64 * (quad / 2) + at] : p[at] >> 6 | p[64 + at] >> 6 << 2 | p[128 + at] >> 6 << 4;
    return pair >> 3 * (quad % 2) & 7;
  };
  switch (kind) {
    case LevelKind::nibbles:
    case LevelKind::nibbles_table:
    case LevelKind::nibbles_doubled:
      return nibble();
    case LevelKind::nibbles_one_bit:
      return nibble() | one_bit(p + 256) << 4;
    case LevelKind::nibbles_two_bits:
      return nibble() | two_bits(p + 256) << 4;
    case LevelKind::one_bit_doubled:
      return one_bit(p);
    case LevelKind::two_bits:
    case LevelKind::two_bits_delta:
      return two_bits(p);
    case LevelKind::three_bits:
    case LevelKind::three_bits_table:
      return three_bits();
    case LevelKind::bytes:
      return p[64 * quad + at];
    case LevelKind::none:
      break;
  }
  return 0;
}

/// The unsigned level of a code.
inline int level_of(const PackLayout& layout, int code) {
  if (layout.table != nullptr) return layout.table[code];
  switch (layout.levels) {
    case LevelKind::nibbles_doubled:
    case LevelKind::one_bit_doubled:
      return 2 * code;
    case LevelKind::two_bits_delta:
      return 8 * code;
    default:
      return code;
  }
}

/// 2^(e - 128), half of E8M0.
inline float half_e8m0(uint8_t e) {
  const uint32_t bits = e < 2 ? 0x00200000u << e : static_cast<uint32_t>(e - 1) << 23;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/// Half of UE4M3, whose bits are an f16 of 2^-8 the value.
inline float half_ue4m3(uint8_t x) { return f16_to_f32(static_cast<uint16_t>(x << 7)) * 128.0f; }

inline void read_head(const PackLayout& layout, const uint8_t* head, int lane, LaneBlock& out) {
  for (int h = 0; h < 2; ++h) {
    out.min[h] = 0.0f;
    switch (layout.head) {
      case HeadKind::e8m0:
        out.scale[h] = half_e8m0(head[lane]);
        break;
      case HeadKind::ue4m3s:
        out.scale[h] = half_ue4m3(head[16 * h + lane]);
        break;
      default:
        out.scale[h] = read_half(head, lane) * layout.factor;
        if (layout.has_min) out.min[h] = read_half(head + 32, lane);
        break;
    }
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
      case SubKind::nibble_half_scales:
        out.scale[h] *= static_cast<float>(sub[lane] >> 4 * h & 15) + 0.5f;
        break;
      case SubKind::delta_scale:
        out.scale[h] *= static_cast<float>(sub[lane] & 15);
        break;
      case SubKind::delta_scales:
        out.scale[h] *= static_cast<float>(sub[16 * h + lane] & 15);
        break;
    }
  }
}

/// What the sub-scales add to the levels of element e.
inline int delta_level(SubKind kind, const uint8_t* sub, int lane, int e) {
  if (kind == SubKind::delta_scale) return sub[lane] >> 3 & 2;
  if (kind == SubKind::delta_scales) return sub[16 * (e / 16) + lane] >> (3 + e / 8 % 2) & 2;
  return 0;
}

inline LaneBlock read_lane(PackFormat format, const uint8_t* group, int64_t k, int64_t block, int lane) {
  const PackLayout& layout = pack_layout(format);
  const BlockPlace place = block_place(layout, group, k, block);
  LaneBlock out;
  read_head(layout, place.head, lane, out);
  apply_sub_scales(layout.sub, place.sub, lane, out);
  for (int e = 0; e < 32; ++e) {
    const int level = level_of(layout, stored_code(layout.levels, place.levels, lane, e / 4, e % 4));
    out.q[e] = static_cast<int16_t>(level + delta_level(layout.sub, place.sub, lane, e) - layout.offset);
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
