#pragma once

#include <immintrin.h>
#include <stdint.h>

// Vocabulary of the matmul kernels in 256-bit registers: 8 rows a register, two passes a group. See
// avx512/matmul_vocab.hpp for the dot products; vpdpbusd comes in the AVX-VNNI or the AVX-512VL encoding.

namespace brisk::cpu {
namespace {

struct MatmulVocab {
  using F = __m256;
  using I = __m256i;
  static constexpr int kLanes = 8;
  static constexpr int kTokens = 5;  // a third of a tile; 5 accumulators + 8 levels + scales: 16 registers
  static constexpr int interleave(int tokens) { return tokens % 2 == 0 ? 2 : 1; }

  static I load(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static I bytes(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
  static I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
  /// Bits shift within 16-bit pairs: the caller masks.
  template <int n>
  static I shift_right(I a) {
    return _mm256_srli_epi16(a, n);
  }
  /// to | ((from << n) & mask); negative n shifts right.
  template <int n>
  static I insert(I to, I from, int mask) {
    I shifted = from;
    if constexpr (n > 0) shifted = _mm256_slli_epi16(from, n);
    if constexpr (n < 0) shifted = _mm256_srli_epi16(from, -n);
    return _mm256_or_si256(to, _mm256_and_si256(shifted, bytes(mask)));
  }
  static __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static __m128i load8(const uint8_t* p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)); }
  static I table16(const uint8_t* p) { return _mm256_broadcastsi128_si256(load16(p)); }
  static I look_up(I table, I index) { return _mm256_shuffle_epi8(table, index); }

  static F load_f32(const uint8_t* p) { return _mm256_loadu_ps(reinterpret_cast<const float*>(p)); }
  static F load_f16(const uint8_t* p) { return _mm256_cvtph_ps(load16(p)); }
  static F load_bf16(const uint8_t* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load16(p)), 16));
  }
  static F from_u8(const uint8_t* p) { return to_float(_mm256_cvtepu8_epi32(load8(p))); }
  static F from_i8(const uint8_t* p) { return to_float(_mm256_cvtepi8_epi32(load8(p))); }
  static F from_low_nibbles(const uint8_t* p) {
    return to_float(_mm256_and_si256(_mm256_cvtepu8_epi32(load8(p)), _mm256_set1_epi32(15)));
  }
  static F from_high_nibbles(const uint8_t* p) {
    return to_float(_mm256_srli_epi32(_mm256_cvtepu8_epi32(load8(p)), 4));
  }

  /// 2^(e - 128); e of 0 and 1 give subnormals.
  static F from_e8m0(const uint8_t* p) {
    const I e = _mm256_cvtepu8_epi32(load8(p));
    const I normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
    const I tiny = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
    return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, tiny, _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e)));
  }
  /// Half the value: the bits as f16 are 2^-8 of it, subnormals too.
  static F from_ue4m3(const uint8_t* p) {
    const __m128i bits = _mm_slli_epi16(_mm_cvtepu8_epi16(load8(p)), 7);
    return _mm256_mul_ps(_mm256_cvtph_ps(bits), _mm256_set1_ps(128.0f));
  }
  /// Byte r in all bytes of lane r.
  static I spread(const uint8_t* p) {
    const I each = _mm256_setr_epi32(0x00000000, 0x01010101, 0x02020202, 0x03030303, 0x04040404, 0x05050505, 0x06060606,
                                     0x07070707);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load8(p)), each);
  }

  static F zero() { return _mm256_setzero_ps(); }
  static I zero_i() { return _mm256_setzero_si256(); }
  static F negate(F a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F to_float(I a) { return _mm256_cvtepi32_ps(a); }
  static F broadcast(const float* p) { return _mm256_set1_ps(*p); }
  static I broadcast(const int32_t* p) { return _mm256_set1_epi32(*p); }
  static I broadcast_quad(const int8_t* q) {
    int32_t quad;
    __builtin_memcpy(&quad, q, 4);
    return _mm256_set1_epi32(quad);
  }
  static void prefetch(const uint8_t* p) { _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0); }
  /// The first n lanes (all from n = 8 on).
  static I first_lanes(int64_t n) {
    const auto count = static_cast<int32_t>(n < kLanes ? n : kLanes);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static F load_first(const float* p, int64_t n) { return _mm256_maskload_ps(p, first_lanes(n)); }
  static void store_first(float* p, F a, int64_t n) { _mm256_maskstore_ps(p, first_lanes(n), a); }

#if defined(__AVXVNNI__) || defined(__AVX512VNNI__)
  static I wide_levels(I biased) { return biased; }

  static I dpbusd(I acc, I w, I x) {
#ifdef __AVXVNNI__
    return _mm256_dpbusd_avx_epi32(acc, w, x);
#else
    return _mm256_dpbusd_epi32(acc, w, x);
#endif
  }

  template <int bits, int n, int U>
  static inline __attribute__((always_inline)) void dot(const I* w, const int8_t* q, I (&dot)[U]) {
#pragma GCC unroll 8
    for (int j = 0; j < n; ++j) {
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u) dot[u] = dpbusd(dot[u], w[j], broadcast_quad(q + 64 * u + 4 * j));
    }
  }
#else
  static I wide_levels(I biased) { return _mm256_xor_si256(biased, bytes(0x80)); }

  static I add_pairs(I acc, I pairs) { return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))); }

  template <int bits, int n>
  static I dot_token(const I* w, const int8_t* q, I init) {
    if constexpr (bits == 8) {
      I acc = zero_i();
#pragma GCC unroll 8
      for (int j = 0; j < n; ++j) {
        const I signed_x = _mm256_sign_epi8(broadcast_quad(q + 4 * j), w[j]);
        acc = add_pairs(acc, _mm256_maddubs_epi16(_mm256_abs_epi8(w[j]), signed_x));
      }
      return acc;
    }
    constexpr int steps = bits <= 4 ? n : bits == 5 ? 4 : bits == 6 ? 2 : 1;
#pragma GCC unroll 8
    for (int j = 0; j < n; j += steps) {
      I pairs = _mm256_maddubs_epi16(w[j], broadcast_quad(q + 4 * j));
#pragma GCC unroll 8
      for (int i = 1; i < steps; ++i) {
        pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(w[j + i], broadcast_quad(q + 4 * (j + i))));
      }
      init = add_pairs(init, pairs);
    }
    return init;
  }
  template <int bits, int n, int U>
  static inline __attribute__((always_inline)) void dot(const I* w, const int8_t* q, I (&dot)[U]) {
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) dot[u] = dot_token<bits, n>(w, q + 64 * u, dot[u]);
  }
#endif

  /// Greatest magnitude by bits (so that NaN wins).
  static float max_abs32(const float* x) {
    I top = zero_i();
    for (int i = 0; i < 32; i += 8) {
      const I bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      top = _mm256_max_epi32(top, _mm256_and_si256(bits, _mm256_set1_epi32(INT32_MAX)));
    }
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(top), _mm256_extracti128_si256(top, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtss_f32(_mm_castsi128_ps(half));
  }
  static int32_t sum8(I a) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtsi128_si32(half);
  }
  /// q = x * inverse to nearest even; sums of both halves.
  static void round32(const float* x, float inverse, int8_t* q, int32_t (&sum)[2]) {
    const F factor = _mm256_set1_ps(inverse);
    for (int h = 0; h < 2; ++h) {
      const I a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 16 * h), factor));
      const I b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 16 * h + 8), factor));
      sum[h] = sum8(_mm256_add_epi32(a, b));
      const I words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
      const __m128i packed = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(q + 16 * h), packed);
    }
  }
};

}  // namespace
}  // namespace brisk::cpu
