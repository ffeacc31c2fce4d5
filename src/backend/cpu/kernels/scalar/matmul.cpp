#include <math.h>

#include "cpu/kernels/generic/lane.hpp"
#include "cpu/kernels/tables.hpp"

// The definition of every matmul: plain loops, one row and one token at a time.

namespace brisk::cpu {
namespace {

float row_block(const PackLayout& layout, const LaneBlock& w, const ActivationBlock& x, float acc) {
  const int width = layout.wide16 ? 16 : 32;
  for (int begin = 0; begin < 32; begin += width) {
    const int h = begin / 16;
    int32_t dot = 0;
    for (int e = begin; e < begin + width; ++e) dot += w.q[e] * x.q[e];
    acc = fmaf(w.scale[h] * x.scale, static_cast<float>(dot), acc);
    if (layout.has_min) acc = fmaf(w.min[h], layout.wide16 ? x.fsum_half[h] : x.fsum, acc);
  }
  return acc;
}

struct Tile {
  const uint8_t* data;
  int64_t first;
  int width;
};

Tile activation_tile(const MatmulArgs& args, int64_t first, int64_t token_bytes) {
  const int64_t left = args.n_tokens - first;
  return {args.activations + first * token_bytes, first, static_cast<int>(left < kTileTokens ? left : kTileTokens)};
}

void store(const MatmulArgs& args, const Tile& tile, int64_t row, const float* acc) {
  for (int t = 0; t < tile.width; ++t) {
    const int64_t token = tile.first + t;
    args.y[args.ldy * (args.y_rows ? args.y_rows[token] : token) + row] = acc[t];
  }
}

void quantized_row(PackFormat format, const MatmulArgs& args, const Tile& tile, int64_t row, float* acc) {
  const PackLayout& layout = pack_layout(format);
  const uint8_t* group = args.weights + row / kGroupRows * args.group_bytes;
  const auto* x = reinterpret_cast<const ActivationBlock*>(tile.data);
  for (int64_t block = 0; block < args.k / 32; ++block) {
    const LaneBlock w = read_lane(format, group, args.k, block, static_cast<int>(row % kGroupRows));
    for (int t = 0; t < tile.width; ++t) acc[t] = row_block(layout, w, x[block * tile.width + t], acc[t]);
  }
}

void float_row(PackFormat format, const MatmulArgs& args, const Tile& tile, int64_t row, float* acc) {
  const uint8_t* group = args.weights + row / kGroupRows * args.group_bytes;
  const auto* x = reinterpret_cast<const float*>(tile.data);
  for (int64_t e = 0; e < args.k; ++e) {
    const float w = read_float_weight(format, group, e, static_cast<int>(row % kGroupRows));
    for (int t = 0; t < tile.width; ++t) acc[t] = fmaf(w, x[e * tile.width + t], acc[t]);
  }
}

template <PackFormat format>
void matmul(const MatmulArgs& args) noexcept {
  const bool quantized = pack_layout(format).blocks != 0;
  const int64_t token_bytes = quantized ? args.k / 32 * static_cast<int64_t>(sizeof(ActivationBlock)) : args.k * 4;
  for (int64_t row = 0; row < args.n_rows; ++row) {
    for (int64_t first = 0; first < args.n_tokens; first += kTileTokens) {
      const Tile tile = activation_tile(args, first, token_bytes);
      float acc[kTileTokens] = {};
      (quantized ? quantized_row : float_row)(format, args, tile, row, acc);
      store(args, tile, row, acc);
    }
  }
}

/// Finite and large enough that its inverse is finite; else all levels are 0 and the scale alone carries NaN or
/// infinity on.
bool usable_scale(float d) { return d >= 0x1p-126f && d < HUGE_VALF; }

void quantize_block(const float* x, int32_t offset, ActivationBlock& out) {
  // The greatest magnitude by its bits: NaN is above infinity, so it is never lost.
  uint32_t amax_bits = 0;
  for (int e = 0; e < 32; ++e) {
    uint32_t bits;
    memcpy(&bits, x + e, 4);
    bits &= 0x7FFFFFFF;
    if (bits > amax_bits) amax_bits = bits;
  }
  float amax;
  memcpy(&amax, &amax_bits, 4);
  const float d = amax / 127.0f;
  const float inverse = usable_scale(d) ? 1.0f / d : 0.0f;
  int32_t sum[2] = {0, 0};
  for (int e = 0; e < 32; ++e) {
    out.q[e] = static_cast<int8_t>(usable_scale(d) ? nearbyintf(x[e] * inverse) : 0.0f);
    sum[e / 16] += out.q[e];
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

const float* source_row(const ActivationSource& source, int64_t token) {
  return source.x + source.ldx * (source.rows ? source.rows[token] : token);
}

void quantize_activations(const ActivationSource& source, int64_t tile_begin, int64_t tile_end, uint8_t* out) noexcept {
  const int64_t n_blocks = source.k / 32;
  auto* blocks = reinterpret_cast<ActivationBlock*>(out);
  for (int64_t token = tile_begin * kTileTokens; token < source.n_tokens && token < tile_end * kTileTokens; ++token) {
    const int64_t first = token / kTileTokens * kTileTokens;
    const int64_t width = source.n_tokens - first < kTileTokens ? source.n_tokens - first : kTileTokens;
    const float* x = source_row(source, token);
    for (int64_t b = 0; b < n_blocks; ++b) {
      quantize_block(x + 32 * b, source.offset, blocks[first * n_blocks + b * width + token - first]);
    }
  }
}

void transpose_activations(const ActivationSource& source, int64_t tile_begin, int64_t tile_end,
                           uint8_t* out) noexcept {
  auto* values = reinterpret_cast<float*>(out);
  for (int64_t token = tile_begin * kTileTokens; token < source.n_tokens && token < tile_end * kTileTokens; ++token) {
    const int64_t first = token / kTileTokens * kTileTokens;
    const int64_t width = source.n_tokens - first < kTileTokens ? source.n_tokens - first : kTileTokens;
    const float* x = source_row(source, token);
    for (int64_t e = 0; e < source.k; ++e) values[first * source.k + e * width + token - first] = x[e];
  }
}

}  // namespace

namespace scalar {
const MatmulKernels kMatmulKernels = {quantize_activations, transpose_activations, BRISK_MATMUL_ENTRIES(matmul)};
}  // namespace scalar

}  // namespace brisk::cpu
