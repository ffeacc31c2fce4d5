#pragma once

#include "cpu/kernels/generic/math.hpp"
#include "cpu/kernels/op_kernels.hpp"

// Elementwise and row kernels over a vocabulary V.

namespace brisk::cpu {
namespace {

/// out[i] = fn(i, how many lanes count): 16 at a time, the rest through partial loads.
template <class V, class Fn>
BRISK_INLINE void for_lanes(int64_t n, float* out, Fn fn) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) V::store(out + i, fn([&](const float* p) { return V::load(p + i); }));
  if (i < n) V::store_first(out + i, fn([&](const float* p) { return V::load_first(p + i, n - i); }), n - i);
}

/// Folds fn(load) of all lanes with step(accumulator, value); absent lanes load 0.
template <class V, class Step>
BRISK_INLINE typename V::F accumulate(int64_t n, const float* x, Step step) {
  typename V::F acc = V::zero();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) acc = step(acc, V::load(x + i), 16);
  if (i < n) acc = step(acc, V::load_first(x + i, n - i), static_cast<int>(n - i));
  return acc;
}

template <class V>
void add(const float* x, const float* y, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return V::add(load(x), load(y)); });
}
template <class V>
void mul(const float* x, const float* y, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return V::mul(load(x), load(y)); });
}
template <class V>
void scale(const float* x, float factor, float* out, int64_t n) noexcept {
  const auto f = V::set1(factor);
  for_lanes<V>(n, out, [&](auto load) { return V::mul(load(x), f); });
}
template <class V>
void add_scaled(const float* x, float factor, float* out, int64_t n) noexcept {
  const auto f = V::set1(factor);
  const float* old = out;
  for_lanes<V>(n, out, [&](auto load) { return V::fma(f, load(x), load(old)); });
}

template <class V>
BRISK_INLINE typename V::F soft_capped(typename V::F x, float cap) {
  return V::mul(V::set1(cap), tanh_of<V>(V::div(x, V::set1(cap))));
}
template <class V>
void soft_cap(const float* x, float cap, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return soft_capped<V>(load(x), cap); });
}
template <class V>
void sigmoid(const float* x, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return sigmoid_of<V>(load(x)); });
}
template <class V>
void exp(const float* x, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return exp_of<V>(load(x)); });
}
template <class V, int kind>
void activate(const float* x, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return activation_of<V, kind>(load(x)); });
}
template <class V, int kind>
void gated(const float* gate, const float* up, float* out, int64_t n) noexcept {
  for_lanes<V>(n, out, [&](auto load) { return V::mul(activation_of<V, kind>(load(gate)), load(up)); });
}

template <class V>
BRISK_INLINE float greatest_of(const float* x, int64_t n) {
  using F = typename V::F;
  const F lowest = V::set1(-__builtin_inff());
  F top = lowest;
  accumulate<V>(n, x, [&](F acc, F value, int count) {
    top = V::max(top, count == 16 ? value : V::if_within(0, count, value, lowest));
    return acc;
  });
  return V::greatest(top);
}

template <class V>
void softmax(const float* x, float* out, int64_t n) noexcept {
  using F = typename V::F;
  const F top = V::set1(greatest_of<V>(x, n));
  for_lanes<V>(n, out, [&](auto load) { return exp_of<V>(V::sub(load(x), top)); });
  const F total = V::set1(V::sum(accumulate<V>(n, out, [](F acc, F value, int) { return V::add(acc, value); })));
  const float* powers = out;
  for_lanes<V>(n, out, [&](auto load) { return V::div(load(powers), total); });
}

/// (x * 1 / sqrt(mean(x^2) + eps)) * weight.
template <class V>
void rms_norm(const NormArgs& a) noexcept {
  using F = typename V::F;
  const float total = V::sum(accumulate<V>(a.n, a.x, [](F acc, F x, int) { return V::fma(x, x, acc); }));
  const F inverse = V::set1(1.0f / __builtin_sqrtf(total / static_cast<float>(a.n) + a.epsilon));
  if (a.weight) {
    for_lanes<V>(a.n, a.out, [&](auto load) { return V::mul(V::mul(load(a.x), inverse), load(a.weight)); });
  } else {
    for_lanes<V>(a.n, a.out, [&](auto load) { return V::mul(load(a.x), inverse); });
  }
}

/// fma((x - mean) * 1 / sqrt(var + eps), weight, bias).
template <class V>
void layer_norm(const NormArgs& a) noexcept {
  using F = typename V::F;
  const auto n = static_cast<float>(a.n);
  const float total = V::sum(accumulate<V>(a.n, a.x, [](F acc, F x, int) { return V::add(acc, x); }));
  const F mean = V::set1(total / n);
  const float square = V::sum(accumulate<V>(a.n, a.x, [&](F acc, F x, int count) {
    F d = V::sub(x, mean);
    if (count < 16) d = V::if_within(0, count, d, V::zero());
    return V::fma(d, d, acc);
  }));
  const F inverse = V::set1(1.0f / __builtin_sqrtf(square / n + a.epsilon));
  for_lanes<V>(a.n, a.out, [&](auto load) {
    const F y = V::mul(V::sub(load(a.x), mean), inverse);
    const F w = a.weight ? load(a.weight) : V::set1(1.0f);
    return a.bias ? V::fma(y, w, load(a.bias)) : V::mul(y, w);
  });
}

/// (a, b) -> (a cos - b sin, a sin + b cos), one product of each rounded first.
template <class V>
BRISK_INLINE void rotate(typename V::F& a, typename V::F& b, typename V::F c, typename V::F s) {
  const auto x = V::fnma(b, s, V::mul(a, c));
  b = V::fma(a, s, V::mul(b, c));
  a = x;
}

static inline void rotate_pair(const float* cs, float a, float b, float* out_a, float* out_b) {
  *out_a = __builtin_fmaf(-b, cs[1], a * cs[0]);
  *out_b = __builtin_fmaf(a, cs[1], b * cs[0]);
}

static inline void copy_rest(const RopeArgs& r, const float* x, float* out) {
  for (int32_t i = r.n_rot; i < r.head_dim; ++i) out[i] = x[i];
}

template <class V>
void rope_norm(const RopeArgs& r) noexcept {
  using F = typename V::F;
  const int32_t pairs = r.n_rot / 2;
  for (int32_t h = 0; h < r.n_heads; ++h) {
    const float* x = r.x + static_cast<int64_t>(h) * r.head_dim;
    float* out = r.out + static_cast<int64_t>(h) * r.head_dim;
    int32_t i = 0;
    for (; i + 16 <= pairs; i += 16) {
      F a, b, c, s;
      V::load_pairs(x + 2 * i, a, b);
      V::load_pairs(r.table + 2 * i, c, s);
      rotate<V>(a, b, c, s);
      V::store_pairs(out + 2 * i, a, b);
    }
    for (; i < pairs; ++i) rotate_pair(r.table + 2 * i, x[2 * i], x[2 * i + 1], out + 2 * i, out + 2 * i + 1);
    copy_rest(r, x, out);
  }
}

template <class V>
void rope_neox(const RopeArgs& r) noexcept {
  using F = typename V::F;
  const int32_t pairs = r.n_rot / 2;
  for (int32_t h = 0; h < r.n_heads; ++h) {
    const float* x = r.x + static_cast<int64_t>(h) * r.head_dim;
    float* out = r.out + static_cast<int64_t>(h) * r.head_dim;
    int32_t i = 0;
    for (; i + 16 <= pairs; i += 16) {
      F c, s;
      V::load_pairs(r.table + 2 * i, c, s);
      F a = V::load(x + i);
      F b = V::load(x + pairs + i);
      rotate<V>(a, b, c, s);
      V::store(out + i, a);
      V::store(out + pairs + i, b);
    }
    for (; i < pairs; ++i) rotate_pair(r.table + 2 * i, x[i], x[pairs + i], out + i, out + pairs + i);
    copy_rest(r, x, out);
  }
}

template <class V>
void to_f16(const float* x, uint16_t* out, int64_t n) noexcept {
  for (int64_t i = 0; i < n; i += 16) V::store_first(out + i, V::load_first(x + i, n - i), n - i);
}
template <class V>
void from_f16(const uint16_t* x, float* out, int64_t n) noexcept {
  for (int64_t i = 0; i < n; i += 16) V::store_first(out + i, V::load_first(x + i, n - i), n - i);
}

}  // namespace
}  // namespace brisk::cpu
