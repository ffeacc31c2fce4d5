#include "base/rng.hpp"

#include <gtest/gtest.h>

namespace brisk {
namespace {

TEST(Rng, IsTheMersenneTwisterOfTheStandard) {
  Rng rng(5489);  // the standard's default seed: its 10000th output is given there
  for (int i = 1; i < 10000; ++i) rng.next();
  EXPECT_EQ(rng.next(), 4123659995u);
}

TEST(Rng, UniformTakesTwoOutputsLowWordFirst) {
  Rng words(42);
  Rng reals(42);
  for (int i = 0; i < 1000; ++i) {
    const auto low = static_cast<double>(words.next());
    const auto high = static_cast<double>(words.next());
    const double u = reals.uniform();
    EXPECT_EQ(u, (low + high * 4294967296.0) / 18446744073709551616.0);
    EXPECT_GE(u, 0.0);
    EXPECT_LT(u, 1.0);
  }
}

}  // namespace
}  // namespace brisk
