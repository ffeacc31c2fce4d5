#pragma once

#include "cpu/kernels/matmul_kernels.hpp"

// Packing of activation rows into tiles (ActivationSource), over the vocabulary of kernels/<isa>/vocab.hpp.

namespace brisk::cpu {
namespace {

/// Scales from 2^-126 on have finite inverses. Below, or not finite: all levels 0, and the scale alone carries NaN or
/// infinity on to the result.
template <class V>
inline void quantize_block(const float* x, int32_t offset, ActivationBlock& out) {
  const float d = V::max_abs32(x) / 127.0f;
  int32_t sum[2] = {0, 0};
  if (d >= 0x1p-126f && d < __builtin_inff()) {
    V::round32(x, 1.0f / d, out.q, sum);
  } else {
    __builtin_memset(out.q, 0, 32);
  }
  out.scale = d;
  out.init = -offset * (sum[0] + sum[1]);
  out.fsum = d * static_cast<float>(sum[0] + sum[1]);
  for (int h = 0; h < 2; ++h) {
    out.init_half[h] = -offset * sum[h];
    out.fsum_half[h] = d * static_cast<float>(sum[h]);
  }
  out.unused = 0.0f;
}

/// Calls visit(row, first token of the tile, index in the tile, width of the tile) for every token of the tiles.
template <class Visit>
inline void for_each_token(const ActivationSource& source, int64_t tile_begin, int64_t tile_end, Visit visit) {
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t first = tile * kTileTokens;
    const int64_t left = source.n_tokens - first;
    const int64_t width = left < kTileTokens ? left : kTileTokens;
    for (int64_t t = 0; t < width; ++t) {
      visit(source.x + source.ldx * (source.rows ? source.rows[first + t] : first + t), first, t, width);
    }
  }
}

template <class V>
void quantize_activations(const ActivationSource& source, int64_t tile_begin, int64_t tile_end, uint8_t* out) noexcept {
  const int64_t n_blocks = source.k / 32;
  auto* blocks = reinterpret_cast<ActivationBlock*>(out);
  for_each_token(source, tile_begin, tile_end, [&](const float* x, int64_t first, int64_t t, int64_t width) {
    ActivationBlock* to = blocks + first * n_blocks + t;
    for (int64_t b = 0; b < n_blocks; ++b) quantize_block<V>(x + 32 * b, source.offset, to[b * width]);
  });
}

template <class V>
void transpose_activations(const ActivationSource& source, int64_t tile_begin, int64_t tile_end,
                           uint8_t* out) noexcept {
  auto* values = reinterpret_cast<float*>(out);
  for_each_token(source, tile_begin, tile_end, [&](const float* x, int64_t first, int64_t t, int64_t width) {
    float* to = values + first * source.k + t;
    for (int64_t e = 0; e < source.k; ++e) to[e * width] = x[e];
  });
}

}  // namespace
}  // namespace brisk::cpu
