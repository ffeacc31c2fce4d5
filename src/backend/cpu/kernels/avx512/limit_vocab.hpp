#pragma once

#include <immintrin.h>

#include "cpu/kernels/generic/limits.hpp"

namespace brisk::cpu {
namespace {

struct LimitVocab {
  using I = __m512i;
  using F = __m512;
  static I ints(int value) noexcept { return _mm512_set1_epi32(value); }
  static F floats(float value) noexcept { return _mm512_set1_ps(value); }
  static I load(const void* at) noexcept { return _mm512_load_si512(at); }
  static I add(I a, I b) noexcept { return _mm512_add_epi32(a, b); }
  static F fma(F sum, F a, F b) noexcept { return _mm512_fmadd_ps(sum, a, b); }
  static I dot(I sum, I a, I b) noexcept {
#ifdef __AVX512VNNI__
    return _mm512_dpbusd_epi32(sum, a, b);
#else
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1)));
#endif
  }
  static void keep(I& value) noexcept { __asm__ volatile("" : "+v"(value)); }
  static void keep(F& value) noexcept { __asm__ volatile("" : "+v"(value)); }
  static uint64_t first(I value) noexcept {
    return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(value)));
  }
  static float first(F value) noexcept { return _mm512_cvtss_f32(value); }
};

}  // namespace
}  // namespace brisk::cpu
