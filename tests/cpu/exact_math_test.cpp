#include "cpu/exact_math.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace brisk::cpu {
namespace {

TEST(ExactMath, ExpAndLogAgreeWithTheLibrary) {
  for (double x = -690.0; x < 690.0; x += 0.7137) {
    EXPECT_NEAR(exact_exp(x) / std::exp(x), 1.0, 1e-15) << x;
    const double y = std::exp(x);
    EXPECT_NEAR(exact_log(y), std::log(y), 2e-15 * std::max(1.0, std::fabs(x))) << y;
  }
  EXPECT_EQ(exact_exp(0.0), 1.0);
  EXPECT_EQ(exact_log(1.0), 0.0);
}

TEST(ExactMath, SineAndCosineAgreeWithTheLibrary) {
  for (double x = -1000.0; x < 1000.0; x += 0.01373) {
    const SinCos value = exact_sin_cos(x);
    ASSERT_NEAR(value.sin, std::sin(x), 1e-15) << x;
    ASSERT_NEAR(value.cos, std::cos(x), 1e-15) << x;
  }
  for (double x = 1000.0; x < 1.1e6; x *= 1.00137) {
    const SinCos value = exact_sin_cos(x);
    ASSERT_NEAR(value.sin, std::sin(x), 1e-12) << x;
    ASSERT_NEAR(value.cos, std::cos(x), 1e-12) << x;
  }
}

}  // namespace
}  // namespace brisk::cpu
