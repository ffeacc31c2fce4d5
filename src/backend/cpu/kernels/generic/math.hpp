#pragma once

#include <stdint.h>

// exp, tanh, erf and the activations over a vocabulary V (kernels/<isa>/op_vocab.hpp). Coefficients: weighted least
// squares refined towards equal ripple, then rounded to f32. Every step is one correctly rounded operation, so all
// instruction sets agree bit for bit.

namespace brisk::cpu {
namespace {

#define BRISK_INLINE inline __attribute__((always_inline))

/// Within 2 units in the last place; subnormal results included, overflow gives infinity, exp(-inf) = 0, NaN stays.
template <class V>
BRISK_INLINE typename V::F exp_of(typename V::F x) {
  using F = typename V::F;
  // Beyond these limits the result is 0 or infinity anyway; the operand order keeps NaN.
  x = V::min(V::set1(90.0f), V::max(V::set1(-110.0f), x));
  // n = round(x / ln 2), through the bits below 1.5 * 2^23.
  const F magic = V::set1(0x1.8p23f);
  const F shifted = V::fma(x, V::set1(0x1.715476p0f), magic);
  const F n = V::sub(shifted, magic);
  F r = V::fnma(n, V::set1(0x1.62e4p-1f), x);  // 15 bits of ln 2: n * that is exact
  r = V::fnma(n, V::set1(0x1.7f7d1cp-20f), r);
  F p = V::fma(r, V::set1(0x1.6a234ep-10f), V::set1(0x1.123a6cp-7f));
  p = V::fma(p, r, V::set1(0x1.5558f4p-5f));
  p = V::fma(p, r, V::set1(0x1.55549p-3f));
  p = V::fma(p, r, V::set1(0x1.fffffcp-2f));
  p = V::fma(V::mul(p, r), r, r);
  p = V::add(p, V::set1(1.0f));
  // 2^n in two factors, so that neither leaves the normal range.
  const auto whole = V::sub_i(V::bits(shifted), V::bits(magic));
  const auto half = V::half_i(whole);
  const auto bias = V::set1_i(127);
  const F a = V::from_bits(V::shift_to_exponent(V::add_i(half, bias)));
  const F b = V::from_bits(V::shift_to_exponent(V::add_i(V::sub_i(whole, half), bias)));
  return V::mul(V::mul(p, a), b);
}

template <class V>
BRISK_INLINE typename V::F magnitude(typename V::F x) {
  return V::from_bits(V::and_i(V::bits(x), V::set1_i(INT32_MAX)));
}

template <class V>
BRISK_INLINE typename V::F with_sign_of(typename V::F value, typename V::F sign) {
  return V::from_bits(V::or_i(V::bits(value), V::and_i(V::bits(sign), V::set1_i(INT32_MIN))));
}

/// x + x^3 P(x^2) below 0.625, else 1 - 2 / (exp(2 |x|) + 1).
template <class V>
BRISK_INLINE typename V::F tanh_of(typename V::F x) {
  using F = typename V::F;
  const F a = magnitude<V>(x);
  const F z = V::mul(x, x);
  F p = V::fma(z, V::set1(-0x1.7432e8p-8f), V::set1(0x1.51ceacp-6f));
  p = V::fma(p, z, V::set1(-0x1.b8305ep-5f));
  p = V::fma(p, z, V::set1(0x1.1106d8p-3f));
  p = V::fma(p, z, V::set1(-0x1.555532p-2f));
  const F small = V::fma(V::mul(p, z), x, x);
  const F e = V::add(exp_of<V>(V::add(a, a)), V::set1(1.0f));
  const F large = with_sign_of<V>(V::sub(V::set1(1.0f), V::div(V::set1(2.0f), e)), x);
  return V::if_less(a, V::set1(0.625f), small, large);
}

/// x P(x^2) below 1, else 1 - exp(-Q(|x|)) with |x| held at 4, where erf rounds to 1.
template <class V>
BRISK_INLINE typename V::F erf_of(typename V::F x) {
  using F = typename V::F;
  const F a = magnitude<V>(x);
  const F z = V::mul(x, x);
  F p = V::fma(z, V::set1(0x1.496a28p-14f), V::set1(-0x1.a3f6fcp-11f));
  p = V::fma(p, z, V::set1(0x1.5405b2p-8f));
  p = V::fma(p, z, V::set1(-0x1.b7f90cp-6f));
  p = V::fma(p, z, V::set1(0x1.ce2cf8p-4f));
  p = V::fma(p, z, V::set1(-0x1.81273ep-2f));
  p = V::fma(p, z, V::set1(0x1.20dd74p0f));
  const F small = V::mul(p, x);
  const F t = V::min(V::set1(4.0f), a);
  F q = V::fma(t, V::set1(0x1.6c06dep-16f), V::set1(-0x1.ceeb28p-12f));
  q = V::fma(q, t, V::set1(0x1.13990cp-8f));
  q = V::fma(q, t, V::set1(-0x1.9d0be2p-6f));
  q = V::fma(q, t, V::set1(0x1.bc18d6p-4f));
  q = V::fma(q, t, V::set1(0x1.4434fp-1f));
  q = V::fma(q, t, V::set1(0x1.212c2ep0f));
  q = V::fma(q, t, V::set1(-0x1.8b4034p-13f));
  const F tail = exp_of<V>(V::sub(V::zero(), q));
  return V::if_less(a, V::set1(1.0f), small, with_sign_of<V>(V::sub(V::set1(1.0f), tail), x));
}

/// 1 / (1 + exp(-x)).
template <class V>
BRISK_INLINE typename V::F sigmoid_of(typename V::F x) {
  return V::div(V::set1(1.0f), V::add(V::set1(1.0f), exp_of<V>(V::sub(V::zero(), x))));
}

/// In the order of brisk::Activation: x / (1 + exp(-x)); GELU with tanh; GELU with erf; max(x, 0).
template <class V, int kind>
BRISK_INLINE typename V::F activation_of(typename V::F x) {
  using F = typename V::F;
  if constexpr (kind == 0) {
    return V::div(x, V::add(V::set1(1.0f), exp_of<V>(V::sub(V::zero(), x))));
  } else if constexpr (kind == 1) {
    const F cubic = V::fma(V::mul(V::set1(0x1.6e4e26p-5f), x), V::mul(x, x), x);  // x + 0.044715 x^3
    const F t = tanh_of<V>(V::mul(V::set1(0x1.988454p-1f), cubic));               // sqrt(2 / pi)
    return V::mul(V::mul(V::set1(0.5f), x), V::add(V::set1(1.0f), t));
  } else if constexpr (kind == 2) {
    const F t = erf_of<V>(V::mul(V::set1(0x1.6a09e6p-1f), x));  // 1 / sqrt(2)
    return V::mul(V::mul(V::set1(0.5f), x), V::add(V::set1(1.0f), t));
  } else {
    return V::max(x, V::zero());
  }
}

}  // namespace
}  // namespace brisk::cpu
