#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace brisk {
namespace {

TEST(Checked, ProductsAndSumsThatFit) {
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), 0xFFFFFFFF00000000);
  EXPECT_EQ(checked_mul<int64_t>(-4, 5), -20);
  EXPECT_EQ(checked_add<uint64_t>(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_EQ(checked_mul<uint64_t>(0, UINT64_MAX), 0u);
}

TEST(Checked, OverflowIsNoValue) {
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul<int64_t>(std::numeric_limits<int64_t>::min(), -1), std::nullopt);
  EXPECT_EQ(checked_add<uint64_t>(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_add<int32_t>(std::numeric_limits<int32_t>::max(), 1), std::nullopt);
}

TEST(Checked, AlignRoundsUpOrSaysThatItDoesNotFit) {
  EXPECT_EQ(checked_align(0, 32), 0u);
  EXPECT_EQ(checked_align(1, 32), 32u);
  EXPECT_EQ(checked_align(32, 32), 32u);
  EXPECT_EQ(checked_align(UINT64_MAX - 31, 32), UINT64_MAX - 31);
  EXPECT_EQ(checked_align(UINT64_MAX - 30, 32), std::nullopt);
}

}  // namespace
}  // namespace brisk
