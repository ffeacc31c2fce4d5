#pragma once

#include <immintrin.h>
#include <stdint.h>

// Vocabulary of the ops (scalar/op_vocab.hpp has the meanings): 16 lanes are one register.

namespace brisk::cpu {
namespace {

struct OpVocab {
  using F = __m512;
  using I = __m512i;
  static constexpr int kRows = 6;  // 6 rows x 4 vectors: 24 accumulators and 4 of K or V of 32 registers
  static constexpr int kVectors = 4;

  static __mmask16 first_lanes(int64_t n) {
    return n >= 16  ? static_cast<__mmask16>(0xFFFF)
           : n <= 0 ? static_cast<__mmask16>(0)
                    : static_cast<__mmask16>((1u << n) - 1);
  }

  static F set1(float a) { return _mm512_set1_ps(a); }
  static F zero() { return _mm512_setzero_ps(); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static F load_first(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
  static void store(float* p, F a) { _mm512_storeu_ps(p, a); }
  static void store_first(float* p, F a, int64_t n) { _mm512_mask_storeu_ps(p, first_lanes(n), a); }
  static F load(const uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static F load_first(const uint16_t* p, int64_t n) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(n), p));
  }
  static void store_first(uint16_t* p, F a, int64_t n) {
    _mm256_mask_storeu_epi16(p, first_lanes(n), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  static void load_pairs(const float* p, F& even, F& odd) {
    const F a = load(p);
    const F b = load(p + 16);
    const I index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    even = _mm512_permutex2var_ps(a, index, b);
    odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(index, _mm512_set1_epi32(1)), b);
  }
  static void store_pairs(float* p, F even, F odd) {
    const I low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    store(p, _mm512_permutex2var_ps(even, low, odd));
    store(p + 16, _mm512_permutex2var_ps(even, _mm512_add_epi32(low, _mm512_set1_epi32(8)), odd));
  }

  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static F if_less(F a, F b, F then, F other) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), other, then);
  }
  static F iota() { return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
  static F if_within(int first, int last, F a, F b) {
    return _mm512_mask_blend_ps(static_cast<__mmask16>(first_lanes(last) & ~first_lanes(first)), b, a);
  }

  static I bits(F a) { return _mm512_castps_si512(a); }
  static F from_bits(I a) { return _mm512_castsi512_ps(a); }
  static I set1_i(int32_t a) { return _mm512_set1_epi32(a); }
  static I add_i(I a, I b) { return _mm512_add_epi32(a, b); }
  static I sub_i(I a, I b) { return _mm512_sub_epi32(a, b); }
  static I and_i(I a, I b) { return _mm512_and_si512(a, b); }
  static I or_i(I a, I b) { return _mm512_or_si512(a, b); }
  static I half_i(I a) { return _mm512_srai_epi32(a, 1); }
  static I shift_to_exponent(I a) { return _mm512_slli_epi32(a, 23); }

  static float sum(F a) {
    const __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    const __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    const __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
  }
  static float greatest(F a) {
    const __m256 b = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    const __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    const __m128 d = _mm_max_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_max_ss(d, _mm_movehdup_ps(d)));
  }
  static float first(F a) { return _mm512_cvtss_f32(a); }
};

}  // namespace
}  // namespace brisk::cpu
