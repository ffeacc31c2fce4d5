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

/// Codes of the three_bits plane at `p`.
template <class V>
inline __attribute__((always_inline)) void load_three_bits(const uint8_t* p, typename V::I (&w)[8]) {
  BRISK_UNROLL for (int j = 0; j < 6; j += 2) {
    const typename V::I line = V::load(p + 32 * j);
    w[j] = V::bit_and(line, V::bytes(7));
    w[j + 1] = V::bit_and(V::template shift_right<3>(line), V::bytes(7));
  }
  typename V::I last = V::bit_and(V::template shift_right<6>(V::load(p)), V::bytes(3));
  last = V::template insert<-4>(last, V::load(p + 64), 0x0C);
  last = V::template insert<-2>(last, V::load(p + 128), 0x30);
  w[6] = V::bit_and(last, V::bytes(7));
  w[7] = V::bit_and(V::template shift_right<3>(last), V::bytes(7));
}

/// Bits 4 and 5 of a lane's sub-scale bytes (bit 4 of the only one) as value 2 of all of the lane's bytes.
template <class V, int halves>
inline __attribute__((always_inline)) void load_deltas(const uint8_t* sub, typename V::I (&delta)[4]) {
  BRISK_UNROLL for (int h = 0; h < 2; ++h) {
    const typename V::I bits = V::spread(sub + (halves == 2 ? 16 * h : 0));
    delta[2 * h] = V::bit_and(V::template shift_right<3>(bits), V::bytes(2));
    delta[2 * h + 1] = halves == 2 ? V::bit_and(V::template shift_right<4>(bits), V::bytes(2)) : delta[2 * h];
  }
}

template <class V, int halves>
inline __attribute__((always_inline)) void load_two_bits_delta(const uint8_t* p, const uint8_t* sub,
                                                               typename V::I (&w)[8]) {
  typename V::I delta[4];
  load_deltas<V, halves>(sub, delta);
  BRISK_UNROLL for (int h = 0; h < 2; ++h) {
    const typename V::I line = V::load(p + 64 * h);
    w[4 * h] = V::template insert<3>(delta[2 * h], line, 0x18);
    w[4 * h + 1] = V::template insert<1>(delta[2 * h], line, 0x18);
    w[4 * h + 2] = V::template insert<-1>(delta[2 * h + 1], line, 0x18);
    w[4 * h + 3] = V::template insert<-3>(delta[2 * h + 1], line, 0x18);
  }
}

/// Level 2 or 0 of k-quad j and the later ones.
template <class V, int j = 0>
inline __attribute__((always_inline)) void take_one_bit_doubled(typename V::I line, typename V::I (&w)[8]) {
  w[j] = V::template insert<1 - j>(V::zero_i(), line, 2);
  if constexpr (j < 7) take_one_bit_doubled<V, j + 1>(line, w);
}

template <class V>
inline __attribute__((always_inline)) void load_nibbles_doubled(const uint8_t* p, typename V::I (&w)[8]) {
  BRISK_UNROLL for (int j = 0; j < 4; ++j) {
    const typename V::I line = V::load(p + 64 * j);
    w[j] = V::template insert<1>(V::zero_i(), line, 0x1E);
    w[j + 4] = V::bit_and(V::template shift_right<3>(line), V::bytes(0x1E));
  }
}

/// The unsigned levels of one block; eight-bit ones in the form that V's dot products take. `p` points at the part's
/// bytes in the first line, `sub` at its sub-scales.
template <class V, PackFormat format>
inline __attribute__((always_inline)) void load_levels(const uint8_t* p, const uint8_t* sub, typename V::I (&w)[8]) {
  constexpr const PackLayout& layout = pack_layout(format);
  constexpr LevelKind kind = layout.levels;
  if constexpr (kind == LevelKind::nibbles || kind == LevelKind::nibbles_table) {
    load_nibbles<V>(p, w);
  } else if constexpr (kind == LevelKind::nibbles_doubled) {
    load_nibbles_doubled<V>(p, w);
  } else if constexpr (kind == LevelKind::nibbles_one_bit) {
    load_nibbles<V>(p, w);
    insert_one_bit<V, 4>(V::load(p + 256), w);
  } else if constexpr (kind == LevelKind::nibbles_two_bits) {
    load_nibbles<V>(p, w);
    insert_two_bits<V>(p + 256, w);
  } else if constexpr (kind == LevelKind::one_bit_doubled) {
    take_one_bit_doubled<V>(V::load(p), w);
  } else if constexpr (kind == LevelKind::two_bits) {
    load_two_bits<V>(p, w);
  } else if constexpr (kind == LevelKind::two_bits_delta) {
    load_two_bits_delta<V, layout.wide16 ? 2 : 1>(p, sub, w);
  } else if constexpr (kind == LevelKind::three_bits || kind == LevelKind::three_bits_table) {
    load_three_bits<V>(p, w);
  } else {
    static_assert(kind == LevelKind::bytes);
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::load(p + 64 * j);
  }
  if constexpr (layout.table != nullptr) {
    const typename V::I table = V::table16(layout.table);
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::look_up(table, w[j]);
  }
  if constexpr (max_level(layout) > 127) {
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::wide_levels(w[j]);
  }
}

static constexpr float kOne = 1.0f;
static constexpr float kHalf = 0.5f;

/// Scales of a super-block: d, dmin (negated where sub-scales multiply it) or the final ones.
template <class V, PackFormat format>
inline __attribute__((always_inline)) void load_head(const uint8_t* head, int part, Scales<V>& out) {
  constexpr const PackLayout& layout = pack_layout(format);
  const uint8_t* halfs = head + 2 * V::kLanes * part;
  if constexpr (layout.head == HeadKind::e8m0) {
    out.scale[0] = V::from_e8m0(head + V::kLanes * part);
  } else if constexpr (layout.head == HeadKind::ue4m3s) {
    for (int h = 0; h < 2; ++h) out.scale[h] = V::from_ue4m3(head + 16 * h + V::kLanes * part);
  } else {
    out.scale[0] = V::load_f16(halfs);
    if constexpr (layout.factor != 1.0f) out.scale[0] = V::mul(out.scale[0], V::broadcast(&layout.factor));
    if constexpr (layout.head == HeadKind::d_m) out.min[0] = V::load_f16(halfs + 32);
    if constexpr (layout.head == HeadKind::d_dmin) out.min[0] = V::negate(V::load_f16(halfs + 32));
  }
}

template <class V>
inline __attribute__((always_inline)) typename V::F half_scale(typename V::F s) {
  return V::fma(s, V::broadcast(&kOne), V::broadcast(&kHalf));
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
  } else if constexpr (kind == SubKind::nibble_half_scales) {
    out.scale[0] = V::mul(head.scale[0], half_scale<V>(V::from_low_nibbles(sub)));
    out.scale[1] = V::mul(head.scale[0], half_scale<V>(V::from_high_nibbles(sub)));
  } else if constexpr (kind == SubKind::delta_scale) {
    out.scale[0] = V::mul(head.scale[0], V::from_low_nibbles(sub));
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
