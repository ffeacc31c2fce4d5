#pragma once

#include "cpu/kernels/generic/formats.hpp"
#include "cpu/kernels/tables.hpp"

// Matmul over a vocabulary V (kernels/<isa>/vocab.hpp): V::F and V::I are registers of V::kLanes floats or 4 *
// V::kLanes bytes. One output row a lane, so nothing is ever summed across lanes; a group of 16 rows takes 16 / kLanes
// passes ("parts"). A 32-wide block is unpacked to 8 registers of unsigned levels once for T tokens; a token then costs
// 8 dot steps whose activation operand is a broadcast load, one conversion, one multiplication and one fma.

namespace brisk::cpu {
namespace {

#define BRISK_UNROLL _Pragma("GCC unroll 16")

template <class V>
struct Scales {
  typename V::F scale[2];
  typename V::F min[2];
};

/// The levels of one block. `p` points at the part's bytes in the first line.
template <class V, LevelKind kind>
inline __attribute__((always_inline)) void load_levels(const uint8_t* p, typename V::I (&w)[8]) {
  using I = typename V::I;
  constexpr bool has_nibbles = kind == LevelKind::nibbles || kind == LevelKind::nibbles_one_bit ||
                               kind == LevelKind::nibbles_two_bits || kind == LevelKind::kvalues;
  constexpr bool has_two_bits = kind == LevelKind::two_bits || kind == LevelKind::two_bits_one_bit;
  if constexpr (has_nibbles) {
    BRISK_UNROLL for (int j = 0; j < 4; ++j) {
      const I line = V::load(p + 64 * j);
      w[j] = V::bit_and(line, V::bytes(0x0F));
      w[j + 4] = V::bit_and(V::template shift_right<4>(line), V::bytes(0x0F));
    }
  }
  if constexpr (has_two_bits) {
    BRISK_UNROLL for (int h = 0; h < 2; ++h) {
      const I line = V::load(p + 64 * h);
      w[4 * h] = V::bit_and(line, V::bytes(3));
      w[4 * h + 1] = V::bit_and(V::template shift_right<2>(line), V::bytes(3));
      w[4 * h + 2] = V::bit_and(V::template shift_right<4>(line), V::bytes(3));
      w[4 * h + 3] = V::bit_and(V::template shift_right<6>(line), V::bytes(3));
    }
  }
  if constexpr (kind == LevelKind::nibbles_two_bits) {
    BRISK_UNROLL for (int h = 0; h < 2; ++h) {
      const I line = V::load(p + 256 + 64 * h);
      w[4 * h] = V::template insert<4>(w[4 * h], line, 0x30);
      w[4 * h + 1] = V::template insert<2>(w[4 * h + 1], line, 0x30);
      w[4 * h + 2] = V::template insert<0>(w[4 * h + 2], line, 0x30);
      w[4 * h + 3] = V::template insert<-2>(w[4 * h + 3], line, 0x30);
    }
  }
  if constexpr (kind == LevelKind::nibbles_one_bit) {
    const I line = V::load(p + 256);
    w[0] = V::template insert<4>(w[0], line, 0x10);
    w[1] = V::template insert<3>(w[1], line, 0x10);
    w[2] = V::template insert<2>(w[2], line, 0x10);
    w[3] = V::template insert<1>(w[3], line, 0x10);
    w[4] = V::template insert<0>(w[4], line, 0x10);
    w[5] = V::template insert<-1>(w[5], line, 0x10);
    w[6] = V::template insert<-2>(w[6], line, 0x10);
    w[7] = V::template insert<-3>(w[7], line, 0x10);
  }
  if constexpr (kind == LevelKind::two_bits_one_bit) {
    const I line = V::load(p + 128);
    w[0] = V::template insert<2>(w[0], line, 4);
    w[1] = V::template insert<1>(w[1], line, 4);
    w[2] = V::template insert<0>(w[2], line, 4);
    w[3] = V::template insert<-1>(w[3], line, 4);
    w[4] = V::template insert<-2>(w[4], line, 4);
    w[5] = V::template insert<-3>(w[5], line, 4);
    w[6] = V::template insert<-4>(w[6], line, 4);
    w[7] = V::template insert<-5>(w[7], line, 4);
  }
  if constexpr (kind == LevelKind::bytes) {
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::wide_levels(V::load(p + 64 * j));
  }
  if constexpr (kind == LevelKind::kvalues) {
    const I table = V::table16(kBiasedKvalues);
    BRISK_UNROLL for (int j = 0; j < 8; ++j) w[j] = V::wide_levels(V::look_up(table, w[j]));
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

template <LevelKind kind>
inline constexpr int kLevelBits = kind == LevelKind::nibbles_one_bit                       ? 5
                                  : kind == LevelKind::nibbles_two_bits                    ? 6
                                  : kind == LevelKind::bytes || kind == LevelKind::kvalues ? 8
                                                                                           : 4;

/// `n` k-quads from quad `first` on, times U tokens; `init` of a token is `init_bytes` into its block.
template <class V, PackFormat format, int n, int U>
inline __attribute__((always_inline)) void dot_tokens(const typename V::I (&w)[8], const ActivationBlock* x, int half,
                                                      typename V::F (&out)[U]) {
  constexpr const PackLayout& layout = pack_layout(format);
  typename V::I dot[U];
  BRISK_UNROLL for (int u = 0; u < U; ++u) {
    if constexpr (layout.offset == 0) {
      dot[u] = V::zero_i();
    } else {
      dot[u] = V::broadcast(n == 8 ? &x[u].init : &x[u].init_half[half]);
    }
  }
  V::template dot<kLevelBits<layout.levels>, n, U>(&w[4 * half], x->q + 16 * half, dot);
  BRISK_UNROLL for (int u = 0; u < U; ++u) out[u] = V::to_float(dot[u]);
}

/// One block times U tokens. Their dot products run interleaved: one token's is a chain of 8 steps of 5 cycles, and a
/// scheduler filled with one token's chain after the other finds too little to start (measured: 43 % of the peak, not
/// 60 %).
template <class V, PackFormat format, int U>
inline __attribute__((always_inline)) void block_times_tokens(const typename V::I (&w)[8], const Scales<V>& s,
                                                              const ActivationBlock* x, typename V::F* acc) {
  constexpr const PackLayout& layout = pack_layout(format);
  constexpr int halves = layout.wide16 ? 2 : 1;
  BRISK_UNROLL for (int h = 0; h < halves; ++h) {
    typename V::F dot[U];
    dot_tokens<V, format, 8 / halves, U>(w, x, h, dot);
    BRISK_UNROLL for (int u = 0; u < U; ++u) {
      acc[u] = V::fma(V::mul(s.scale[h], V::broadcast(&x[u].scale)), dot[u], acc[u]);
      if constexpr (layout.has_min) {
        acc[u] = V::fma(s.min[h], V::broadcast(layout.wide16 ? &x[u].fsum_half[h] : &x[u].fsum), acc[u]);
      }
    }
  }
}

/// Activations of T tokens of a tile: block b of token t is x[b * stride + t].
struct TokenColumns {
  const ActivationBlock* x;
  int64_t stride;
};

/// Bytes that a one-token pass asks for ahead of its reads: the hardware prefetcher stops at 4 KB pages.
inline constexpr int64_t kPrefetchBytes = 4096;

template <class V, PackFormat format, int T>
inline void group_times_tokens(const uint8_t* group, int64_t k, int part, TokenColumns tokens,
                               typename V::F (&acc)[T]) {
  constexpr const PackLayout& layout = pack_layout(format);
  constexpr int64_t body_bytes = pack_body_bytes(layout);
  const uint8_t* head = group;
  const uint8_t* body = group + pack_body_offset(layout, k);
  const ActivationBlock* x = tokens.x;
  BRISK_UNROLL for (int t = 0; t < T; ++t) acc[t] = V::zero();
  for (int64_t super = k / 32 / layout.blocks; super > 0; --super) {
    Scales<V> outer;
    load_head<V, format>(head, part, outer);
    const uint8_t* sub = body + V::kLanes * part;
    const uint8_t* levels = body + layout.blocks * layout.sub_bytes + 4 * V::kLanes * part;
    for (int b = 0; b < layout.blocks; ++b) {
      if constexpr (T == 1) {
        BRISK_UNROLL for (int line = 0; line < layout.level_bytes; line += 64)
            V::prefetch(levels + line + kPrefetchBytes);
      }
      Scales<V> scales;
      block_scales<V, format>(outer, sub, scales);
      typename V::I w[8];
      load_levels<V, layout.levels>(levels, w);
      constexpr int U = V::interleave(T);
      static_assert(T % U == 0);
      BRISK_UNROLL for (int t = 0; t < T; t += U) block_times_tokens<V, format, U>(w, scales, x + t, acc + t);
      x += tokens.stride;
      sub += layout.sub_bytes;
      levels += layout.level_bytes;
    }
    head += layout.head_bytes;
    body += body_bytes;
  }
}

template <class V, PackFormat format>
inline __attribute__((always_inline)) typename V::F load_weights(const uint8_t* p) {
  if constexpr (format == PackFormat::f32) return V::load_f32(p);
  if constexpr (format == PackFormat::f16) return V::load_f16(p);
  if constexpr (format == PackFormat::bf16) return V::load_bf16(p);
}

/// f32, f16, bf16 weights: acc = fma(w, x, acc) over k in order. x of token t is x[e * stride + t].
template <class V, PackFormat format, int T>
inline void float_group_times_tokens(const uint8_t* weights, int64_t k, const float* x, int64_t stride,
                                     typename V::F (&acc)[T]) {
  BRISK_UNROLL for (int t = 0; t < T; ++t) acc[t] = V::zero();
  for (int64_t e = 0; e < k; ++e) {
    const typename V::F w = load_weights<V, format>(weights);
    BRISK_UNROLL for (int t = 0; t < T; ++t) acc[t] = V::fma(w, V::broadcast(x + t), acc[t]);
    x += stride;
    weights += pack_layout(format).level_bytes;
  }
}

/// One group and the activation tile that starts at token `first`.
struct TileJob {
  const uint8_t* group;
  const uint8_t* tile;
  int64_t first;
  int width;
  int64_t row;  ///< first row of the group
};

template <class V, PackFormat format, int T>
inline void run_tokens(const MatmulArgs& args, const TileJob& job, int t0) {
  constexpr const PackLayout& layout = pack_layout(format);
  for (int part = 0; part < kGroupRows / V::kLanes; ++part) {
    typename V::F acc[T];
    if constexpr (layout.blocks != 0) {
      const TokenColumns tokens{reinterpret_cast<const ActivationBlock*>(job.tile) + t0, job.width};
      group_times_tokens<V, format, T>(job.group, args.k, part, tokens, acc);
    } else {
      const uint8_t* weights = job.group + layout.level_bytes / kGroupRows * V::kLanes * part;
      float_group_times_tokens<V, format, T>(weights, args.k, reinterpret_cast<const float*>(job.tile) + t0, job.width,
                                             acc);
    }
    const int64_t row = job.row + V::kLanes * part;
    const int64_t rows = args.n_rows - row;
    BRISK_UNROLL for (int t = 0; t < T; ++t) {
      const int64_t token = job.first + t0 + t;
      V::store_first(args.y + args.ldy * (args.y_rows ? args.y_rows[token] : token) + row, acc[t], rows);
    }
  }
}

/// Covers tokens [t0, width) with passes of T tokens, the rest with 8, 4, 2, 1.
template <class V, PackFormat format, int T>
inline void cover_tile(const MatmulArgs& args, const TileJob& job, int t0) {
  for (; t0 + T <= job.width; t0 += T) run_tokens<V, format, T>(args, job, t0);
  if constexpr (T > 1) cover_tile<V, format, (T > 8 ? 8 : T / 2)>(args, job, t0);
}

template <class V, PackFormat format>
void matmul(const MatmulArgs& args) noexcept {
  constexpr bool quantized = pack_layout(format).blocks != 0;
  const int64_t token_bytes = quantized ? args.k / 32 * static_cast<int64_t>(sizeof(ActivationBlock)) : args.k * 4;
  for (int64_t g = 0; g < args.n_groups; ++g) {
    for (int64_t first = 0; first < args.n_tokens; first += args.tile_tokens) {
      const int64_t left = args.n_tokens - first;
      const int width = static_cast<int>(left < args.tile_tokens ? left : args.tile_tokens);
      cover_tile<V, format, V::kTokens>(
          args,
          {args.weights + g * args.group_bytes, args.activations + first * token_bytes, first, width, g * kGroupRows},
          0);
    }
  }
}

}  // namespace
}  // namespace brisk::cpu
