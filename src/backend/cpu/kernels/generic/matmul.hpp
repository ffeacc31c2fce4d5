#pragma once

#include "cpu/kernels/generic/levels.hpp"
#include "cpu/kernels/tables.hpp"

// Matmul over a vocabulary. One output row a lane, so nothing is ever summed across lanes. A 32-wide block is unpacked
// to 8 registers of unsigned levels once for T tokens; a token then costs 8 dot steps whose activation operand is a
// broadcast load, one conversion, one multiplication and one fma (two with minima).

namespace brisk::cpu {
namespace {

/// Bits of the greatest level; 4 for fewer.
template <PackFormat format>
inline constexpr int kLevelBits = [] {
  int bits = 4;
  while (max_level(pack_layout(format)) >> bits != 0) ++bits;
  return bits;
}();

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
  V::template dot<kLevelBits<format>, n, U>(&w[4 * half], x->q + 16 * half, dot);
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

/// A span of blocks of one group (rows of the part's lanes) and the activations of T tokens there: block b of token t
/// is x[b * stride + t]. Spans of K formats are whole super-blocks.
struct QuantizedSpan {
  const uint8_t* head;
  const uint8_t* body;
  const ActivationBlock* x;
  int64_t stride;
  int64_t supers;
};

/// Bytes that a one-token pass asks for ahead of its reads: the hardware prefetcher stops at 4 KB pages.
inline constexpr int64_t kPrefetchBytes = 4096;

template <class V, PackFormat format, int T>
inline __attribute__((always_inline)) void multiply(QuantizedSpan span, int part, typename V::F (&acc)[T]) {
  constexpr const PackLayout& layout = pack_layout(format);
  constexpr int U = V::interleave(T);
  static_assert(T % U == 0);
  for (; span.supers > 0; --span.supers) {
    Scales<V> outer;
    load_head<V, format>(span.head, part, outer);
    const uint8_t* sub = span.body + V::kLanes * part;
    const uint8_t* levels = span.body + layout.blocks * layout.sub_bytes + 4 * V::kLanes * part;
    for (int b = 0; b < layout.blocks; ++b) {
      if constexpr (T == 1) {
        BRISK_UNROLL for (int line = 0; line < layout.level_bytes; line += 64)
            V::prefetch(levels + line + kPrefetchBytes);
      }
      Scales<V> scales;
      block_scales<V, format>(outer, sub, scales);
      typename V::I w[8];
      load_levels<V, format>(levels, sub, w);
      BRISK_UNROLL for (int t = 0; t < T; t += U) block_times_tokens<V, format, U>(w, scales, span.x + t, acc + t);
      span.x += span.stride;
      sub += layout.sub_bytes;
      levels += layout.level_bytes;
    }
    span.head += layout.head_bytes;
    span.body += pack_body_bytes(layout);
  }
}

/// The same for f32, f16 and bf16 weights: x of token t at element e is x[e * stride + t].
struct FloatSpan {
  const uint8_t* weights;
  const float* x;
  int64_t stride;
  int64_t elements;
};

template <class V, PackFormat format>
inline __attribute__((always_inline)) typename V::F load_weights(const uint8_t* p) {
  if constexpr (format == PackFormat::f32) return V::load_f32(p);
  if constexpr (format == PackFormat::f16) return V::load_f16(p);
  if constexpr (format == PackFormat::bf16) return V::load_bf16(p);
}

template <class V, PackFormat format, int T>
inline __attribute__((always_inline)) void multiply(FloatSpan span, typename V::F (&acc)[T]) {
  for (; span.elements > 0; --span.elements) {
    const typename V::F w = load_weights<V, format>(span.weights);
    BRISK_UNROLL for (int t = 0; t < T; ++t) acc[t] = V::fma(w, V::broadcast(span.x + t), acc[t]);
    span.x += span.stride;
    span.weights += pack_layout(format).level_bytes;
  }
}

}  // namespace
}  // namespace brisk::cpu
