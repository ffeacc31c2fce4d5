#pragma once

#include <cstdint>
#include <random>

namespace brisk {

/// The random numbers of sampling. The engine is the 32-bit Mersenne Twister, whose output the C++ standard fixes; the
/// conversions to real numbers are written out here, since those of the standard library differ by vendor. A seed thus
/// gives the same stream on every platform, and the stream that llama.cpp draws with that seed.
class Rng {
 public:
  explicit Rng(uint32_t seed) : engine_(seed) {}

  uint32_t next() { return static_cast<uint32_t>(engine_()); }

  /// In [0, 1): two outputs a, b give (a + b * 2^32) / 2^64; a rounded-up 1 becomes the largest double below it.
  double uniform() {
    const auto low = static_cast<double>(next());
    const auto high = static_cast<double>(next());
    const double u = (low + high * 0x1p32) * 0x1p-64;
    return u < 1.0 ? u : 0x1.fffffffffffffp-1;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace brisk
