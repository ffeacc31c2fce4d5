#pragma once

#include <immintrin.h>
#include <stdint.h>

// Vocabulary of the matmul kernels in 512-bit registers: 16 rows a register. Exact dot products of unsigned levels and
// signed activations: vpdpbusd where the file is compiled with VNNI, else 16-bit pairs that the level's width keeps
// from saturating.

namespace brisk::cpu {
namespace {

struct MatmulVocab {
  using F = __m512;
  using I = __m512i;
  static constexpr int kLanes = 16;
  static constexpr int kTokens = 15;
  /// Tokens whose dot products run together: 15 accumulators, 8 levels, 5 dot products, scales fill the 32 registers.
  static constexpr int interleave(int tokens) { return tokens % 5 == 0 ? 5 : tokens < 4 ? tokens : 4; }

  static I load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static I bytes(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  static I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
  /// Bits shift within 16-bit pairs: the caller masks.
  template <int n>
  static I shift_right(I a) {
    return _mm512_srli_epi16(a, n);
  }
  /// to | ((from << n) & mask), one ternary operation; negative n shifts right.
  template <int n>
  static I insert(I to, I from, int mask) {
    I shifted = from;
    if constexpr (n > 0) shifted = _mm512_slli_epi16(from, n);
    if constexpr (n < 0) shifted = _mm512_srli_epi16(from, -n);
    return _mm512_ternarylogic_epi32(to, shifted, bytes(mask), 0xF8);
  }
  static I table16(const uint8_t* p) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static I look_up(I table, I index) { return _mm512_shuffle_epi8(table, index); }

  static F load_f32(const uint8_t* p) { return _mm512_loadu_ps(p); }
  static F load_f16(const uint8_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static F load_bf16(const uint8_t* p) {
    const I wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  static __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static F from_u8(const uint8_t* p) { return to_float(_mm512_cvtepu8_epi32(load16(p))); }
  static F from_i8(const uint8_t* p) { return to_float(_mm512_cvtepi8_epi32(load16(p))); }
  static F from_low_nibbles(const uint8_t* p) {
    return to_float(_mm512_and_si512(_mm512_cvtepu8_epi32(load16(p)), _mm512_set1_epi32(15)));
  }
  static F from_high_nibbles(const uint8_t* p) {
    return to_float(_mm512_srli_epi32(_mm512_cvtepu8_epi32(load16(p)), 4));
  }

  /// 2^(e - 128); e of 0 and 1 give subnormals.
  static F from_e8m0(const uint8_t* p) {
    const I e = _mm512_cvtepu8_epi32(load16(p));
    const I normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
    const __mmask16 small = _mm512_cmplt_epi32_mask(e, _mm512_set1_epi32(2));
    return _mm512_castsi512_ps(_mm512_mask_sllv_epi32(normal, small, _mm512_set1_epi32(0x00200000), e));
  }
  /// Half the value: the bits as f16 are 2^-8 of it, subnormals too.
  static F from_ue4m3(const uint8_t* p) {
    const __m256i bits = _mm256_slli_epi16(_mm256_cvtepu8_epi16(load16(p)), 7);
    return _mm512_mul_ps(_mm512_cvtph_ps(bits), _mm512_set1_ps(128.0f));
  }
  /// Byte r in all bytes of lane r.
  static I spread(const uint8_t* p) {
    const I each = _mm512_setr_epi32(0x00000000, 0x01010101, 0x02020202, 0x03030303, 0x04040404, 0x05050505, 0x06060606,
                                     0x07070707, 0x08080808, 0x09090909, 0x0A0A0A0A, 0x0B0B0B0B, 0x0C0C0C0C, 0x0D0D0D0D,
                                     0x0E0E0E0E, 0x0F0F0F0F);
    return _mm512_shuffle_epi8(table16(p), each);
  }

  static F zero() { return _mm512_setzero_ps(); }
  static I zero_i() { return _mm512_setzero_si512(); }
  static F negate(F a) {
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MIN)));
  }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F to_float(I a) { return _mm512_cvtepi32_ps(a); }
  static F broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static I broadcast(const int32_t* p) { return _mm512_set1_epi32(*p); }
  static I broadcast_quad(const int8_t* q) {
    int32_t quad;
    __builtin_memcpy(&quad, q, 4);
    return _mm512_set1_epi32(quad);
  }
  static void prefetch(const uint8_t* p) { _mm_prefetch(reinterpret_cast<const char*>(p), _MM_HINT_T0); }
  /// The first n lanes (all from n = 16 on).
  static __mmask16 first_lanes(int64_t n) { return static_cast<__mmask16>(n >= 16 ? 0xFFFF : (1u << n) - 1); }
  static F load_first(const float* p, int64_t n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
  static void store_first(float* p, F a, int64_t n) { _mm512_mask_storeu_ps(p, first_lanes(n), a); }

#ifdef __AVX512VNNI__
  /// Levels stored with a bias of 128, as dot<8> takes them.
  static I wide_levels(I biased) { return biased; }

  /// The activations as a broadcast memory operand: g++ 12 has no such form of the intrinsic and spends an instruction
  /// and a register on the broadcast.
  static inline __attribute__((always_inline)) I dpbusd(I acc, I w, const int8_t* q) {
    struct Quad {
      int8_t q[4];
    };
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(w), "m"(*reinterpret_cast<const Quad*>(q)));
    return acc;
  }

  /// dot[u] += sum over n k-quads of levels (unsigned, `bits` wide) times the activations of token u, which lie a
  /// block's 64 bytes apart.
  template <int bits, int n, int U>
  static inline __attribute__((always_inline)) void dot(const I* w, const int8_t* q, I (&dot)[U]) {
    if constexpr (U == 1 && n == 8) {
      // Alone, one chain of 8 steps is too long for what the scheduler holds.
      I high[1] = {zero_i()};
      MatmulVocab::dot<bits, 4, 1>(w, q, dot);
      MatmulVocab::dot<bits, 4, 1>(w + 4, q + 16, high);
      dot[0] = _mm512_add_epi32(dot[0], high[0]);
      return;
    }
#pragma GCC unroll 8
    for (int j = 0; j < n; ++j) {
#pragma GCC unroll 8
      for (int u = 0; u < U; ++u) dot[u] = dpbusd(dot[u], w[j], q + 64 * u + 4 * j);
    }
  }
#else
  static I wide_levels(I biased) { return _mm512_xor_si512(biased, bytes(0x80)); }

  static I add_pairs(I acc, I pairs) { return _mm512_add_epi32(acc, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1))); }

  /// init + sum over n k-quads. Levels of `bits` < 8 bits: 2 * 127 * (2^bits - 1) a step in int16, so 8, 4, 2 or 1
  /// steps add up before they are widened. Eight bits are signed here (wide_levels), |w| * sign(w) q keeps a step
  /// within int16, and the init (which belongs to the bias) is left out.
  template <int bits, int n>
  static I dot_token(const I* w, const int8_t* q, I init) {
    if constexpr (bits == 8) {
      I acc = zero_i();
#pragma GCC unroll 8
      for (int j = 0; j < n; ++j) {
        const I x = broadcast_quad(q + 4 * j);
        const I signed_x = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(w[j]), zero_i(), x);
        acc = add_pairs(acc, _mm512_maddubs_epi16(_mm512_abs_epi8(w[j]), signed_x));
      }
      return acc;
    }
    constexpr int steps = bits <= 4 ? n : bits == 5 ? 4 : bits == 6 ? 2 : 1;
#pragma GCC unroll 8
    for (int j = 0; j < n; j += steps) {
      I pairs = _mm512_maddubs_epi16(w[j], broadcast_quad(q + 4 * j));
#pragma GCC unroll 8
      for (int i = 1; i < steps; ++i) {
        pairs = _mm512_add_epi16(pairs, _mm512_maddubs_epi16(w[j + i], broadcast_quad(q + 4 * (j + i))));
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
    const I mask = _mm512_set1_epi32(INT32_MAX);
    const I a = _mm512_and_si512(_mm512_loadu_si512(x), mask);
    const I b = _mm512_and_si512(_mm512_loadu_si512(x + 16), mask);
    const int32_t bits = _mm512_reduce_max_epi32(_mm512_max_epi32(a, b));
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
  }
  /// q = x * inverse to nearest even; sums of both halves.
  static void round32(const float* x, float inverse, int8_t* q, int32_t (&sum)[2]) {
    for (int h = 0; h < 2; ++h) {
      const I level = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + 16 * h), _mm512_set1_ps(inverse)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(q + 16 * h), _mm512_cvtepi32_epi8(level));
      sum[h] = _mm512_reduce_add_epi32(level);
    }
  }
};

}  // namespace
}  // namespace brisk::cpu
