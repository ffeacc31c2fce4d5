#pragma once

#include "cpu/kernels/generic/rows.hpp"

// Attention over one chunk of 256 positions. K pages are transposed, so one key is one lane and a score is a chain of
// fma over the head in index order; V pages hold rows, so one value is one lane and the result is a chain of fma over
// the positions in order. No lane is ever folded but in the maximum and the sum. Register blocks of kRows query rows
// times kVectors x 16 positions (or values): each K or V vector is loaded and widened once for kRows rows.

namespace brisk::cpu {
namespace {

/// Scores of R rows at 16 NV positions of one page: out[r][i] = scale * q[r] . k[i].
template <class V, class T, int R, int NV>
BRISK_INLINE void score_block(const float* const* q, const T* k, int32_t head_dim, float scale, float* out) {
  using F = typename V::F;
  F acc[R][NV];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < NV; ++v) acc[r][v] = V::zero();
  }
  for (int32_t d = 0; d < head_dim; ++d) {
    F key[NV];
    for (int v = 0; v < NV; ++v) key[v] = V::load(k + static_cast<int64_t>(d) * kPageWidth + 16 * v);
    for (int r = 0; r < R; ++r) {
      const F value = V::set1(q[r][d]);
      for (int v = 0; v < NV; ++v) acc[r][v] = V::fma(value, key[v], acc[r][v]);
    }
  }
  const F factor = V::set1(scale);
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < NV; ++v) V::store(out + r * kChunkWidth + 16 * v, V::mul(acc[r][v], factor));
  }
}

template <class V, class T, int R>
void score_rows(const AttentionChunk& a, int32_t row, int32_t first, int32_t last) {
  for (int page = 0; page < kChunkPages; ++page) {
    const auto* k = static_cast<const T*>(a.k_pages[page]);
    if (!k || first >= (page + 1) * kPageWidth || last <= page * kPageWidth) continue;
    for (int at = 0; at < kPageWidth; at += 16 * V::kVectors) {
      score_block<V, T, R, V::kVectors>(a.q + row, k + at, a.head_dim, a.scale,
                                        a.scores + row * kChunkWidth + page * kPageWidth + at);
    }
  }
}

/// Calls fn.run<R>(row) for the rows left over, 1 to R of them at once.
template <int R, class Fn>
BRISK_INLINE void run_rest(int32_t begin, int32_t n, Fn fn) {
  if constexpr (R > 0) {
    if (n == R) return fn.template run<R>(begin);
    run_rest<R - 1>(begin, n, fn);
  }
}

/// Covers all rows with blocks of R and one smaller one.
template <int R, class Fn>
BRISK_INLINE void cover_rows(int32_t n, Fn fn) {
  int32_t begin = 0;
  for (; begin + R <= n; begin += R) fn.template run<R>(begin);
  run_rest<R - 1>(begin, n - begin, fn);
}

/// Soft cap, ALiBi and mask, then the maximum; scores become exp(score - max), exactly 0 where hidden.
template <class V>
void weigh_row(const AttentionChunk& a, int32_t row) {
  using F = typename V::F;
  float* s = a.scores + row * kChunkWidth;
  const F hidden = V::set1(-__builtin_inff());
  const int first = a.first[row];
  const int last = a.last[row];
  F top = hidden;
  for (int i = 0; i < kChunkWidth; i += 16) {
    F value = hidden;
    if (a.k_pages[i / kPageWidth] && i < last && i + 16 > first) {
      value = V::load(s + i);
      if (a.soft_cap != 0.0f) value = soft_capped<V>(value, a.soft_cap);
      if (a.slopes) {
        const F distance = V::add(V::iota(), V::set1(static_cast<float>(i - a.position[row])));
        value = V::fma(V::set1(a.slopes[row]), distance, value);
      }
      value = V::if_within(first - i, last - i, value, hidden);
      top = V::max(top, value);
    }
    V::store(s + i, value);
  }
  a.max[row] = V::greatest(top);
  a.sum[row] = 0.0f;
  if (!(a.max[row] > -__builtin_inff())) return;
  const F most = V::set1(a.max[row]);
  F total = V::zero();
  for (int i = first / 16 * 16; i < last; i += 16) {
    const F p = exp_of<V>(V::sub(V::load(s + i), most));
    V::store(s + i, p);
    total = V::add(total, p);
  }
  a.sum[row] = V::sum(total);
}

/// out[r][0 .. 16 NV) += sum over positions begin .. end - 1 of p[r] * v; with `partial`, only the first `count`
/// values.
template <class V, class T, int R, int NV, bool partial>
BRISK_INLINE void value_block(const float* p, const T* v, int begin, int end, int32_t head_dim_v, float* out,
                              int count) {
  using F = typename V::F;
  F acc[R][NV];
  for (int r = 0; r < R; ++r) {
    for (int i = 0; i < NV; ++i) {
      float* to = out + static_cast<int64_t>(r) * head_dim_v + 16 * i;
      acc[r][i] = partial ? V::load_first(to, count) : V::load(to);
    }
  }
  for (int j = begin; j < end; ++j) {
    F value[NV];
    for (int i = 0; i < NV; ++i) {
      const T* from = v + static_cast<int64_t>(j) * head_dim_v + 16 * i;
      value[i] = partial ? V::load_first(from, count) : V::load(from);
    }
    for (int r = 0; r < R; ++r) {
      const F weight = V::set1(p[r * kChunkWidth + j]);
      for (int i = 0; i < NV; ++i) acc[r][i] = V::fma(weight, value[i], acc[r][i]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int i = 0; i < NV; ++i) {
      float* to = out + static_cast<int64_t>(r) * head_dim_v + 16 * i;
      partial ? V::store_first(to, acc[r][i], count) : V::store(to, acc[r][i]);
    }
  }
}

/// Positions begin .. end - 1 of the chunk for R rows that all see them.
template <class V, class T, int R>
void add_values(const AttentionChunk& a, int32_t row, int32_t begin, int32_t end) {
  const int32_t n = a.head_dim_v;
  for (int page = 0; page < kChunkPages; ++page) {
    const auto* v = static_cast<const T*>(a.v_pages[page]);
    const int start = page * kPageWidth;
    const int from = begin > start ? begin - start : 0;
    const int to = end < start + kPageWidth ? end - start : kPageWidth;
    if (!v || from >= to) continue;
    const float* p = a.scores + row * kChunkWidth + start;
    float* out = a.out + static_cast<int64_t>(row) * n;
    int32_t d = 0;
    for (; d + 16 * V::kVectors <= n; d += 16 * V::kVectors) {
      value_block<V, T, R, V::kVectors, false>(p, v + d, from, to, n, out + d, 0);
    }
    for (; d + 16 <= n; d += 16) value_block<V, T, R, 1, false>(p, v + d, from, to, n, out + d, 0);
    if (d < n) value_block<V, T, R, 1, true>(p, v + d, from, to, n, out + d, n - d);
  }
}

template <class V, class T>
struct ChunkRows {
  const AttentionChunk& a;

  /// Scores of every position that one of the rows sees.
  template <int R>
  void run(int32_t row) const {
    int32_t first = kChunkWidth, last = 0, begin = 0, end = kChunkWidth;
    for (int r = row; r < row + R; ++r) {
      if (a.first[r] >= a.last[r]) {
        end = 0;
        continue;
      }
      first = a.first[r] < first ? a.first[r] : first;
      last = a.last[r] > last ? a.last[r] : last;
      begin = a.first[r] > begin ? a.first[r] : begin;
      end = a.last[r] < end ? a.last[r] : end;
    }
    score_rows<V, T, R>(a, row, first, last);
    for (int r = row; r < row + R; ++r) weigh_row<V>(a, r);
    if (begin >= end) {
      for (int r = row; r < row + R; ++r) add_values<V, T, 1>(a, r, a.first[r], a.last[r]);
      return;
    }
    // What only some of the rows see lies before or behind what all see; each row still takes its positions in order.
    for (int r = row; r < row + R; ++r) add_values<V, T, 1>(a, r, a.first[r], begin);
    add_values<V, T, R>(a, row, begin, end);
    for (int r = row; r < row + R; ++r) add_values<V, T, 1>(a, r, end, a.last[r]);
  }
};

template <class V, class T>
void attention_chunk(const AttentionChunk& a) noexcept {
  for (int64_t i = 0; i < static_cast<int64_t>(a.n_rows) * a.head_dim_v; ++i) a.out[i] = 0.0f;
  cover_rows<V::kRows>(a.n_rows, ChunkRows<V, T>{a});
}

template <class V>
void attention_merge(const AttentionState& state, const AttentionResult& chunk, int64_t n) noexcept {
  using F = typename V::F;
  if (!(chunk.max > -__builtin_inff())) return;
  if (!(*state.max > -__builtin_inff())) {
    *state.max = chunk.max;
    *state.sum = chunk.sum;
    for (int64_t i = 0; i < n; ++i) state.values[i] = chunk.values[i];
    return;
  }
  const float top = *state.max > chunk.max ? *state.max : chunk.max;
  const F a = exp_of<V>(V::set1(*state.max - top));
  const F b = exp_of<V>(V::set1(chunk.max - top));
  *state.max = top;
  *state.sum = __builtin_fmaf(*state.sum, V::first(a), chunk.sum * V::first(b));
  for_lanes<V>(n, state.values,
               [&](auto load) { return V::fma(load(state.values), a, V::mul(load(chunk.values), b)); });
}

template <class V>
void attention_finish(float sum, const float* values, float* out, int64_t n) noexcept {
  const auto divisor = V::set1(sum);
  if (sum == 0.0f) {
    for (int64_t i = 0; i < n; ++i) out[i] = 0.0f;
    return;
  }
  for_lanes<V>(n, out, [&](auto load) { return V::div(load(values), divisor); });
}

}  // namespace
}  // namespace brisk::cpu
