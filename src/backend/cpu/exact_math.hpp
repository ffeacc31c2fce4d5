#pragma once

namespace brisk::cpu {

// Functions of f64 that give the same bits everywhere, unlike libm's. Errors are a few units in the last place.

/// e^x for |x| < 700.
[[nodiscard]] double exact_exp(double x) noexcept;
/// Natural logarithm of a positive normal number.
[[nodiscard]] double exact_log(double x) noexcept;
/// Sine and cosine, |x| up to 1e6.
struct SinCos {
  double sin;
  double cos;
};
[[nodiscard]] SinCos exact_sin_cos(double x) noexcept;

}  // namespace brisk::cpu
