#pragma once

#include "cpu/kernels/generic/matmul.hpp"

// The loops of a matmul around its passes: groups of rows, spans of k, tiles of tokens.

namespace brisk::cpu {
namespace {

/// Activations of one tile and span of k stay in L1 (48 KB; 32 KB on older cores, where the rest spills to L2) while
/// all groups pass by (Q4_1, 2048 x 2048: 415 GOPS, streamed from L2 400). Sums wait in y between spans, unrounded.
inline constexpr int64_t kSpanBytes = 32 << 10;
/// Weights of a span that all tiles pass over before the next groups are taken: they stay in L2.
inline constexpr int64_t kChunkBytes = 768 << 10;

/// A span of k in units: super-blocks, or elements of float formats.
struct Span {
  int64_t begin;
  int64_t end;
};

/// Groups [group, group + 1) x tokens of the tile that starts at `first`.
struct TileJob {
  int64_t group;
  int64_t first;
  int width;
  Span span;
};

template <PackFormat format>
inline constexpr bool kQuantized = pack_layout(format).blocks != 0;

/// Elements of k to a unit, and activation bytes of one token and unit.
template <PackFormat format>
inline constexpr int64_t kUnit = kQuantized<format> ? 32 * pack_layout(format).blocks : 1;
template <PackFormat format>
inline constexpr int64_t kUnitBytes = kQuantized<format> ? 64 * pack_layout(format).blocks : 4;

template <class V, PackFormat format, int T>
inline __attribute__((always_inline)) void multiply_part(const MatmulArgs& args, const TileJob& job, int t0, int part,
                                                         typename V::F (&acc)[T]) {
  constexpr const PackLayout& layout = pack_layout(format);
  const uint8_t* group = args.weights + job.group * args.group_bytes;
  const uint8_t* tile = args.activations + job.first * (args.k / kUnit<format>)*kUnitBytes<format>;
  const uint8_t* x = tile + job.span.begin * job.width * kUnitBytes<format>;
  if constexpr (kQuantized<format>) {
    multiply<V, format, T>({group + job.span.begin * layout.head_bytes,
                            group + pack_body_offset(layout, args.k) + job.span.begin * pack_body_bytes(layout),
                            reinterpret_cast<const ActivationBlock*>(x) + t0, job.width, job.span.end - job.span.begin},
                           part, acc);
  } else {
    multiply<V, format, T>(
        {group + job.span.begin * layout.level_bytes + layout.level_bytes / kGroupRows * V::kLanes * part,
         reinterpret_cast<const float*>(x) + t0, job.width, job.span.end - job.span.begin},
        acc);
  }
}

template <class V, PackFormat format, int T>
inline void run_tokens(const MatmulArgs& args, const TileJob& job, int t0) {
  for (int part = 0; part < kGroupRows / V::kLanes; ++part) {
    const int64_t row = job.group * kGroupRows + V::kLanes * part;
    const int64_t rows = args.n_rows - row;
    if (rows <= 0) return;
    float* y[T];
    typename V::F acc[T];
    for (int t = 0; t < T; ++t) {
      const int64_t token = job.first + t0 + t;
      y[t] = args.y + args.ldy * (args.y_rows ? args.y_rows[token] : token) + row;
      acc[t] = V::zero();
      // The next group's sums: 15 lines that come from L3 for large outputs, and whose wait nothing else hides.
      V::prefetch(reinterpret_cast<const uint8_t*>(y[t] + kGroupRows));
    }
    if (job.span.begin != 0) {
      BRISK_UNROLL for (int t = 0; t < T; ++t) acc[t] = V::load_first(y[t], rows);
    }
    multiply_part<V, format, T>(args, job, t0, part, acc);
    BRISK_UNROLL for (int t = 0; t < T; ++t) V::store_first(y[t], acc[t], rows);
  }
}

/// Covers tokens [t0, width) with passes of T tokens, the rest with smaller ones.
template <class V, PackFormat format, int T>
inline void cover_tile(const MatmulArgs& args, const TileJob& job, int t0) {
  for (; t0 + T <= job.width; t0 += T) run_tokens<V, format, T>(args, job, t0);
  if constexpr (T > 1) cover_tile<V, format, (T > 8 ? 8 : T / 2)>(args, job, t0);
}

/// All tiles times the groups [begin, end), one span of k.
template <class V, PackFormat format>
inline void run_chunk(const MatmulArgs& args, int64_t begin, int64_t end, Span span) {
  for (int64_t first = 0; first < args.n_tokens; first += kTileTokens) {
    const int64_t left = args.n_tokens - first;
    const int width = static_cast<int>(left < kTileTokens ? left : kTileTokens);
    for (int64_t g = begin; g < end; ++g) cover_tile<V, format, V::kTokens>(args, {g, first, width, span}, 0);
  }
}

template <class V, PackFormat format>
void matmul(const MatmulArgs& args) noexcept {
  if (args.n_tokens <= 0) return;
  const int64_t units = args.k / kUnit<format>;
  const int64_t width = args.n_tokens < kTileTokens ? args.n_tokens : kTileTokens;
  const int64_t most = kSpanBytes / (kUnitBytes<format> * width);
  const int64_t n_spans = (units + most - 1) / most;
  const int64_t span = (units + n_spans - 1) / n_spans;
  const int64_t group_span_bytes = args.group_bytes / n_spans;
  const int64_t chunk = group_span_bytes < kChunkBytes ? kChunkBytes / group_span_bytes : 1;
  for (int64_t g = 0; g < args.n_groups; g += chunk) {
    const int64_t end = g + chunk < args.n_groups ? g + chunk : args.n_groups;
    for (int64_t u = 0; u < units; u += span) {
      run_chunk<V, format>(args, g, end, {u, u + span < units ? u + span : units});
    }
  }
}

}  // namespace
}  // namespace brisk::cpu
