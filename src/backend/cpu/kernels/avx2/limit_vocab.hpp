#pragma once

#include <immintrin.h>

#include "cpu/kernels/generic/limits.hpp"

namespace brisk::cpu {
namespace {

struct LimitVocab {
  using I = __m256i;
  using F = __m256;
  static I ints(int value) noexcept { return _mm256_set1_epi32(value); }
  static F floats(float value) noexcept { return _mm256_set1_ps(value); }
  static I load(const void* at) noexcept { return _mm256_load_si256(static_cast<const __m256i*>(at)); }
  static I add(I a, I b) noexcept { return _mm256_add_epi32(a, b); }
  static F fma(F sum, F a, F b) noexcept { return _mm256_fmadd_ps(sum, a, b); }
  static I dot(I sum, I a, I b) noexcept {
#ifdef __AVXVNNI__
    return _mm256_dpbusd_avx_epi32(sum, a, b);
#else
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
#endif
  }
  static void keep(I& value) noexcept { __asm__ volatile("" : "+x"(value)); }
  static void keep(F& value) noexcept { __asm__ volatile("" : "+x"(value)); }
  static uint64_t first(I value) noexcept {
    return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(value)));
  }
  static float first(F value) noexcept { return _mm256_cvtss_f32(value); }
};

}  // namespace
}  // namespace brisk::cpu
