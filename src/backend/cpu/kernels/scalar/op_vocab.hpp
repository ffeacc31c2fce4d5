#pragma once

#include <stdint.h>
#include <string.h>

#include "quant/half.hpp"

// Vocabulary of the ops in plain C++: the definition of what every other instruction set computes. Compiled for the
// baseline.

namespace brisk::cpu {
namespace {

struct OpVocab {
  struct F {
    float v[16];
  };
  struct I {
    int32_t v[16];
  };
  static constexpr int kRows = 1;  // of a register block of attention
  static constexpr int kVectors = 1;

  template <class Fn>
  static F map(Fn fn) {
    F out;
    for (int i = 0; i < 16; ++i) out.v[i] = fn(i);
    return out;
  }
  template <class Fn>
  static I map_i(Fn fn) {
    I out;
    for (int i = 0; i < 16; ++i) out.v[i] = static_cast<int32_t>(fn(i));
    return out;
  }

  static F set1(float a) {
    return map([&](int) { return a; });
  }
  static F zero() { return set1(0.0f); }
  static F load(const float* p) {
    return map([&](int i) { return p[i]; });
  }
  static F load_first(const float* p, int64_t n) {
    return map([&](int i) { return i < n ? p[i] : 0.0f; });
  }
  static void store(float* p, F a) { memcpy(p, a.v, sizeof a.v); }
  static void store_first(float* p, F a, int64_t n) {
    for (int i = 0; i < 16 && i < n; ++i) p[i] = a.v[i];
  }
  static F load(const uint16_t* p) {
    return map([&](int i) { return f16_to_f32(p[i]); });
  }
  static F load_first(const uint16_t* p, int64_t n) {
    return map([&](int i) { return i < n ? f16_to_f32(p[i]) : 0.0f; });
  }
  static void store_first(uint16_t* p, F a, int64_t n) {
    for (int i = 0; i < 16 && i < n; ++i) p[i] = f32_to_f16(a.v[i]);
  }
  /// 32 floats as 16 pairs.
  static void load_pairs(const float* p, F& even, F& odd) {
    even = map([&](int i) { return p[2 * i]; });
    odd = map([&](int i) { return p[2 * i + 1]; });
  }
  static void store_pairs(float* p, F even, F odd) {
    for (int i = 0; i < 16; ++i) {
      p[2 * i] = even.v[i];
      p[2 * i + 1] = odd.v[i];
    }
  }

  static F add(F a, F b) {
    return map([&](int i) { return a.v[i] + b.v[i]; });
  }
  static F sub(F a, F b) {
    return map([&](int i) { return a.v[i] - b.v[i]; });
  }
  static F mul(F a, F b) {
    return map([&](int i) { return a.v[i] * b.v[i]; });
  }
  static F div(F a, F b) {
    return map([&](int i) { return a.v[i] / b.v[i]; });
  }
  static F fma(F a, F b, F c) {
    return map([&](int i) { return __builtin_fmaf(a.v[i], b.v[i], c.v[i]); });
  }
  /// c - a * b.
  static F fnma(F a, F b, F c) {
    return map([&](int i) { return __builtin_fmaf(-a.v[i], b.v[i], c.v[i]); });
  }
  /// b where a is not greater, so also where one is NaN.
  static F max(F a, F b) {
    return map([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
  }
  static F min(F a, F b) {
    return map([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
  }
  static F if_less(F a, F b, F then, F other) {
    return map([&](int i) { return a.v[i] < b.v[i] ? then.v[i] : other.v[i]; });
  }
  static F iota() {
    return map([](int i) { return static_cast<float>(i); });
  }
  /// a in lanes first .. last - 1, b in the others.
  static F if_within(int first, int last, F a, F b) {
    return map([&](int i) { return i >= first && i < last ? a.v[i] : b.v[i]; });
  }

  static I bits(F a) {
    I out;
    memcpy(out.v, a.v, sizeof a.v);
    return out;
  }
  static F from_bits(I a) {
    F out;
    memcpy(out.v, a.v, sizeof a.v);
    return out;
  }
  static I set1_i(int32_t a) {
    return map_i([&](int) { return a; });
  }
  static I add_i(I a, I b) {
    return map_i([&](int i) { return static_cast<uint32_t>(a.v[i]) + static_cast<uint32_t>(b.v[i]); });
  }
  static I sub_i(I a, I b) {
    return map_i([&](int i) { return static_cast<uint32_t>(a.v[i]) - static_cast<uint32_t>(b.v[i]); });
  }
  static I and_i(I a, I b) {
    return map_i([&](int i) { return a.v[i] & b.v[i]; });
  }
  static I or_i(I a, I b) {
    return map_i([&](int i) { return a.v[i] | b.v[i]; });
  }
  static I half_i(I a) {
    return map_i([&](int i) { return a.v[i] >> 1; });
  }
  static I shift_to_exponent(I a) {
    return map_i([&](int i) { return static_cast<uint32_t>(a.v[i]) << 23; });
  }

  static float sum(F a) {
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) a.v[i] += a.v[i + width];
    }
    return a.v[0];
  }
  static float greatest(F a) {
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) a.v[i] = a.v[i] > a.v[i + width] ? a.v[i] : a.v[i + width];
    }
    return a.v[0];
  }
  static float first(F a) { return a.v[0]; }
};

}  // namespace
}  // namespace brisk::cpu
