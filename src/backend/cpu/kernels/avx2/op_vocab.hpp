#pragma once

#include <immintrin.h>
#include <stdint.h>

// Vocabulary of the ops (scalar/op_vocab.hpp has the meanings): 16 lanes are two registers of 8.

namespace brisk::cpu {
namespace {

struct OpVocab {
  struct F {
    __m256 low, high;
  };
  struct I {
    __m256i low, high;
  };
  static constexpr int kRows = 2;  // 2 rows x 2 vectors: 8 accumulators and 4 of K or V
  static constexpr int kVectors = 2;

  static __m256i first_lanes(int64_t n) {
    const int32_t count = n > 8 ? 8 : n < 0 ? 0 : static_cast<int32_t>(n);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }

  static F set1(float a) { return {_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
  static F zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static F load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static F load_first(const float* p, int64_t n) {
    return {_mm256_maskload_ps(p, first_lanes(n)), _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
  }
  static void store(float* p, F a) {
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
  }
  static void store_first(float* p, F a, int64_t n) {
    _mm256_maskstore_ps(p, first_lanes(n), a.low);
    _mm256_maskstore_ps(p + 8, first_lanes(n - 8), a.high);
  }
  static __m128i load8(const uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static F load(const uint16_t* p) { return {_mm256_cvtph_ps(load8(p)), _mm256_cvtph_ps(load8(p + 8))}; }
  static F load_first(const uint16_t* p, int64_t n) {
    uint16_t all[16] = {};
    for (int i = 0; i < 16 && i < n; ++i) all[i] = p[i];
    return load(all);
  }
  static void store_first(uint16_t* p, F a, int64_t n) {
    constexpr int rounding = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    uint16_t all[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(all), _mm256_cvtps_ph(a.low, rounding));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(all + 8), _mm256_cvtps_ph(a.high, rounding));
    for (int i = 0; i < 16 && i < n; ++i) p[i] = all[i];
  }
  /// Even lanes of 16 floats, then the odd ones.
  static void split(const float* p, __m256& even, __m256& odd) {
    const __m256 a = _mm256_loadu_ps(p);
    const __m256 b = _mm256_loadu_ps(p + 8);
    const __m256 low = _mm256_permute2f128_ps(a, b, 0x20);
    const __m256 high = _mm256_permute2f128_ps(a, b, 0x31);
    even = _mm256_shuffle_ps(low, high, 0x88);
    odd = _mm256_shuffle_ps(low, high, 0xDD);
  }
  static void load_pairs(const float* p, F& even, F& odd) {
    split(p, even.low, odd.low);
    split(p + 16, even.high, odd.high);
  }
  static void join(float* p, __m256 even, __m256 odd) {
    const __m256 low = _mm256_unpacklo_ps(even, odd);
    const __m256 high = _mm256_unpackhi_ps(even, odd);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(low, high, 0x31));
  }
  static void store_pairs(float* p, F even, F odd) {
    join(p, even.low, odd.low);
    join(p + 16, even.high, odd.high);
  }

  static F add(F a, F b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
  static F sub(F a, F b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
  static F mul(F a, F b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
  static F div(F a, F b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
  static F fma(F a, F b, F c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
  }
  static F fnma(F a, F b, F c) {
    return {_mm256_fnmadd_ps(a.low, b.low, c.low), _mm256_fnmadd_ps(a.high, b.high, c.high)};
  }
  static F max(F a, F b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
  static F min(F a, F b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
  static F if_less(F a, F b, F then, F other) {
    return {_mm256_blendv_ps(other.low, then.low, _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ)),
            _mm256_blendv_ps(other.high, then.high, _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ))};
  }
  static F iota() { return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15)}; }
  static __m256 within(int first, int last, __m256 a, __m256 b) {
    const __m256i mask = _mm256_andnot_si256(first_lanes(first), first_lanes(last));
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask));
  }
  static F if_within(int first, int last, F a, F b) {
    return {within(first, last, a.low, b.low), within(first - 8, last - 8, a.high, b.high)};
  }

  static I bits(F a) { return {_mm256_castps_si256(a.low), _mm256_castps_si256(a.high)}; }
  static F from_bits(I a) { return {_mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high)}; }
  static I set1_i(int32_t a) { return {_mm256_set1_epi32(a), _mm256_set1_epi32(a)}; }
  static I add_i(I a, I b) { return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)}; }
  static I sub_i(I a, I b) { return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)}; }
  static I and_i(I a, I b) { return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)}; }
  static I or_i(I a, I b) { return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)}; }
  static I half_i(I a) { return {_mm256_srai_epi32(a.low, 1), _mm256_srai_epi32(a.high, 1)}; }
  static I shift_to_exponent(I a) { return {_mm256_slli_epi32(a.low, 23), _mm256_slli_epi32(a.high, 23)}; }

  static float sum(F a) {
    const __m256 b = _mm256_add_ps(a.low, a.high);
    const __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    const __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
  }
  static float greatest(F a) {
    const __m256 b = _mm256_max_ps(a.low, a.high);
    const __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    const __m128 d = _mm_max_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_max_ss(d, _mm_movehdup_ps(d)));
  }
  static float first(F a) { return _mm256_cvtss_f32(a.low); }
};

}  // namespace
}  // namespace brisk::cpu
