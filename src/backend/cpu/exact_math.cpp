#include "cpu/exact_math.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace brisk::cpu {

namespace {

// Upper parts have 33 significant bits: their product with a whole number below 2^20 is exact.
constexpr double kLn2High = 0x1.62e42fep-1;
constexpr double kLn2Low = 0x1.f473de6af278fp-30;
constexpr double kHalfPi1 = 0x1.921fb544p0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;

double power_of_two(int n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }

/// Taylor series of sin on [-pi/4, pi/4]: the first term left out is below 1e-19.
double sin_series(double r) {
  const double z = r * r;
  double p = 1.0;
  for (int k = 17; k >= 3; k -= 2) p = 1.0 - p * z / static_cast<double>(k * (k - 1));
  return r * p;
}

double cos_series(double r) {
  const double z = r * r;
  double p = 1.0;
  for (int k = 18; k >= 2; k -= 2) p = 1.0 - p * z / static_cast<double>(k * (k - 1));
  return p;
}

}  // namespace

double exact_exp(double x) noexcept {
  const double n = std::floor(x * 0x1.71547652b82fep0 + 0.5);
  const double r = x - n * kLn2High - n * kLn2Low;
  double p = 1.0;
  for (int k = 15; k >= 1; --k) p = 1.0 + p * r / static_cast<double>(k);
  return p * power_of_two(static_cast<int>(n));
}

double exact_log(double x) noexcept {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    ++exponent;
  }
  // ln m = 2 atanh(s), |s| < 0.172.
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0.0;
  for (int k = 25; k >= 1; k -= 2) p = p * z + 1.0 / static_cast<double>(k);
  const double n = exponent;
  return n * kLn2High + (n * kLn2Low + 2.0 * s * p);
}

SinCos exact_sin_cos(double x) noexcept {
  const double n = std::floor(x * 0x1.45f306dc9c883p-1 + 0.5);
  const double r = ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;
  const double s = sin_series(r);
  const double c = cos_series(r);
  switch (static_cast<int64_t>(n) & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

}  // namespace brisk::cpu
