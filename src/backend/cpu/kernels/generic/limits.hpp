#pragma once

#include "cpu/kernels/limit_kernels.hpp"

// Loops over a vocabulary V: registers I of 32-bit and F of float lanes. Accumulators are independent chains; `keep`
// makes the compiler believe that it needs one in a register, so that no round is left out.

namespace brisk::cpu {
namespace {

// A multiply-add has 4 to 5 cycles from operand to result and starts twice a cycle: 10 chains fill the units, and 12
// leave room for both operands in 16 registers.
inline constexpr int kLimitChains = 12;

template <class V>
uint64_t read_limit(const void* data, size_t size) noexcept {
  constexpr int kLoads = 8;
  constexpr size_t kStep = kLoads * sizeof(typename V::I);
  const char* at = static_cast<const char*>(data);
  typename V::I sum[kLoads];
  for (int i = 0; i < kLoads; ++i) sum[i] = V::ints(0);
  for (const char* end = at + size; at < end; at += kStep) {
    for (int i = 0; i < kLoads; ++i) sum[i] = V::add(sum[i], V::load(at + static_cast<size_t>(i) * sizeof(sum[0])));
  }
  for (int i = 1; i < kLoads; ++i) sum[0] = V::add(sum[0], sum[i]);
  return V::first(sum[0]);
}

template <class V>
uint64_t dot_limit(uint64_t rounds) noexcept {
  typename V::I sum[kLimitChains];
  for (int i = 0; i < kLimitChains; ++i) sum[i] = V::ints(i);
  const typename V::I a = V::ints(0x01020304);
  const typename V::I b = V::ints(0x01010101);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kLimitChains; ++i) {
      sum[i] = V::dot(sum[i], a, b);
      V::keep(sum[i]);
    }
  }
  for (int i = 1; i < kLimitChains; ++i) sum[0] = V::add(sum[0], sum[i]);
  return V::first(sum[0]);
}

template <class V>
float fma_limit(uint64_t rounds) noexcept {
  typename V::F sum[kLimitChains];
  for (int i = 0; i < kLimitChains; ++i) sum[i] = V::floats(static_cast<float>(i));
  const typename V::F a = V::floats(0.5f);
  const typename V::F b = V::floats(1.0f);
  for (uint64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < kLimitChains; ++i) {
      sum[i] = V::fma(sum[i], a, b);
      V::keep(sum[i]);
    }
  }
  for (int i = 1; i < kLimitChains; ++i) sum[0] = V::fma(sum[0], b, sum[i]);
  return V::first(sum[0]);
}

}  // namespace
}  // namespace brisk::cpu

/// The table over a vocabulary. Operations of a round: four bytes a lane in the dot product.
#define BRISK_LIMIT_KERNELS(V)                                                                        \
  {                                                                                                   \
    read_limit<V>, dot_limit<V>, kLimitChains * 8 * static_cast<int>(sizeof(V::I) / 4), fma_limit<V>, \
        kLimitChains * 2 * static_cast<int>(sizeof(V::F) / 4)                                         \
  }
