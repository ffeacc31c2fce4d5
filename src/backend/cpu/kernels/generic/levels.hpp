#pragma once

#include "cpu/kernels/generic/formats.hpp"

// Unpacking of one 32-wide block of a packed group over a vocabulary V (kernels/<isa>/matmul_vocab.hpp): V::F and V::I
// are registers of V::kLanes floats or 4 * V::kLanes bytes; a group of 16 rows takes 16 / kLanes passes ("parts").

namespace brisk::cpu {
namespace {

#define BRISK_UNROLL _Pragma("GCC unroll 16")

template <class V>
struct Scales {
  typename V::F scale[2];
  typename V::F min[2];
};

template <class V>
inline __attribute__((always_inline)) void load_nibbles(const uint8_t* p, typename V::I (&w)[8]) {
  BRISK_UNROLL for (int j = 0; j < 4; ++j) {
    const typename V::I line = V::load(p + 64 * j);
    w[j] = V::bit_and(line, V::bytes(0x0F));
    w[j + 4] = V::bit_and(V::template shift_right<4>(line), V::bytes(0x0F));
  }
}

template <class V>
inline __attribute__((always_inline)) void load_two_bits(const uint8_t* p, typename V::I (&w)[8]) {
  BRISK_UNROLL for (int h = 0; h < 2; ++h) {
    const typename V::I line = V::load(p + 64 * h);
    w[4 * h] = V::bit_and(line, V::bytes(3));
    w[4 * h + 1] = V::bit_and(V::template shift_right<2>(line), V::bytes(3));
    w[4 * h + 2] = V::bit_and(V::template shift_right<4>(line), V::bytes(3));
    w[4 * h + 3] = V::bit_and(V::template shift_right<6>(line), V::bytes(3));
  }
}

/// Bit j of a byte of `line` becomes bit `at` of w[j].
template <class V, int at, int j = 0>
inline __attribute__((always_inline)) void insert_one_bit(typename V::I line, typename V::I (&w)[8]) {
  w[j] = V::template insert<at - j>(w[j], line, 1 << at);
  if constexpr (j < 7) insert_one_bit<V, at, j + 1>(line, w);
}

/// The two-bit plane at `p` becomes bits 4 and 5.
template <class V>
inline __attribute__((always_inline)) void insert_two_bits(const uint8_t* p, typename V::I (&w)[8]) {
  BRISK_UNROLL for (int h = 0; h < 2; ++h) {
    const typename V::I line = V::load(p + 64 * h);
    w[4 * h] = V::template insert<4>(w[4 * h], line, 0x30);
    w[4 * h + 1] = V::template insert<2>(w[4 * h + 1], line, 0x30);
    w[4 * h + 2] = V::template insert<0>(w[4 * h + 2], line, 0x30);
    w[4 * h + 3] = V::template insert<-2>(w[4 * h + 3], line, 0x30);
  }
}

/// The levels of one block. `p` points at the part's bytes in the first line.
template <class V, LevelKind kind>
inline __attribute__((always_inline)) void load_levels(const uint8_t* p, typename V::I (&w)[8]) {
  if constexpr (kind == LevelKind::nibbles) {
    load_nibbles<V>(p, w);
  } else if constexpr (kind == LevelKind::nibbles_one_bit) {
    load_nibbles<V>(p, w);
    insert_one_bit<V, 4>(V::load(p + 256), w);
  } else if constexpr (kind == LevelKind::nibbles_two_bits) {
    load_nibbles<V>(p, w);
    insert_two_bits<V>(p + 256, w);
  } else if constexpr (kind == LevelKind::two_bits) {
    load_two_bits<V>(p, w);
  } else if constexpr (kind == LevelKind::two_bits_one_bit) {
    load_two_bits<V>(p, w);
    insert_one_bit<V, 2>(V::load(p + 128), w);
  } else if constexpr (kind == LevelKind::kvalues) {
    load_nibbles<V>(p, w);
    const typename V::I table = V::table16(kBiasedKvalues);
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::wide_levels(V::look_up(table, w[j]));
  } else {
    static_assert(kind == LevelKind::bytes);
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::wide_levels(V::load(p + 64 * j));
  }
}

/// Scales of a super-block: d, dmin (negated where sub-scales multiply it) or the final ones.
template <class V, PackFormat format>
inline __attribute__((always_inline)) void load_head(const uint8_t* head, int part, Scales<V>& out) {
  constexpr const PackLayout& layout = pack_layout(format);
  constexpr int halves = layout.wide16 ? 2 : 1;
  const uint8_t* halfs = head + 2 * V::kLanes * part;
  if constexpr (layout.head == HeadKind::scale) {
    for (int h = 0; h < halves; ++h) out.scale[h] = V::load_f32(head + 64 * h + 4 * V::kLanes * part);
  } else {
    out.scale[0] = V::load_f16(halfs);
    if constexpr (layout.head == HeadKind::d_m) out.min[0] = V::load_f16(halfs + 32);
    if constexpr (layout.head == HeadKind::d_dmin) out.min[0] = V::negate(V::load_f16(halfs + 32));
  }
}

/// The scales of a block from its head and sub-scales, with the decoder's own roundings: d * sc and -(dmin * m).
template <class V, PackFormat format>
inline __attribute__((always_inline)) void block_scales(const Scales<V>& head, const uint8_t* sub, Scales<V>& out) {
  constexpr SubKind kind = pack_layout(format).sub;
  if constexpr (kind == SubKind::none) {
    out = head;
  } else if constexpr (kind == SubKind::u8_scale_min) {
    out.scale[0] = V::mul(head.scale[0], V::from_u8(sub));
    out.min[0] = V::mul(head.min[0], V::from_u8(sub + 16));
  } else if constexpr (kind == SubKind::i8_scale) {
    out.scale[0] = V::mul(head.scale[0], V::from_i8(sub));
  } else {
    for (int h = 0; h < 2; ++h) {
      if constexpr (kind == SubKind::i8_scales) {
        out.scale[h] = V::mul(head.scale[0], V::from_i8(sub + 16 * h));
      } else {
        out.scale[h] = V::mul(head.scale[0], V::from_low_nibbles(sub + 16 * h));
        out.min[h] = V::mul(head.min[0], V::from_high_nibbles(sub + 16 * h));
      }
    }
  }
}

}  // namespace
}  // namespace brisk::cpu
