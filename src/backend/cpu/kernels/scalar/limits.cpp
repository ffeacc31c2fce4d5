#include "cpu/kernels/generic/limits.hpp"

#include <math.h>
#include <string.h>

namespace brisk::cpu {
namespace {

/// One lane, as the scalar kernels compute.
struct LimitVocab {
  using I = uint32_t;
  using F = float;
  static I ints(int value) noexcept { return static_cast<I>(value); }
  static F floats(float value) noexcept { return value; }
  static I load(const void* at) noexcept {
    I value = 0;
    memcpy(&value, at, sizeof(value));
    return value;
  }
  static I add(I a, I b) noexcept { return a + b; }
  static F fma(F sum, F a, F b) noexcept { return fmaf(sum, a, b); }
  static I dot(I sum, I a, I b) noexcept {
    for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xFF) * (b >> shift & 0xFF);
    return sum;
  }
  static void keep(I& value) noexcept { __asm__ volatile("" : "+r"(value)); }
  static void keep(F& value) noexcept { __asm__ volatile("" : "+m"(value)); }
  static uint64_t first(I value) noexcept { return value; }
  static float first(F value) noexcept { return value; }
};

}  // namespace

const LimitKernels scalar::kLimitKernels = BRISK_LIMIT_KERNELS(LimitVocab);

}  // namespace brisk::cpu
