#include "quant/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace brisk {
namespace {

bool is_nan_half(uint32_t h) { return (h & 0x7FFF) > 0x7C00; }

TEST(Half, EveryF16RoundTrips) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float value = f16_to_f32(static_cast<uint16_t>(h));
    if (is_nan_half(h)) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(f32_to_f16(value), h | 0x200) << "stays a NaN, becomes quiet";
    } else {
      ASSERT_EQ(f32_to_f16(value), h);
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(f16_to_f32(0x3C00), 1.0f);
  EXPECT_EQ(f16_to_f32(0x7BFF), 65504.0f);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x03FF), 1023 * 0x1p-24f);
  EXPECT_EQ(f16_to_f32(0x0400), 0x1p-14f);
  EXPECT_TRUE(std::signbit(f16_to_f32(0x8000)));
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xFC00);
  EXPECT_EQ(f32_to_f16(1e-30f), 0);
  EXPECT_EQ(f32_to_f16(-1e-30f), 0x8000);
}

// Between two neighbours a and b: below the middle to a, above to b, the middle to the even one. Exact in f64.
TEST(Half, RoundsToNearestEven) {
  for (uint32_t h = 0; h < 0x7BFF; ++h) {
    const double a = f16_to_f32(static_cast<uint16_t>(h));
    const double b = f16_to_f32(static_cast<uint16_t>(h + 1));
    const auto middle = static_cast<float>((a + b) / 2);
    ASSERT_EQ(f32_to_f16(middle), h % 2 == 0 ? h : h + 1);
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), h);
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, INFINITY)), h + 1);
    ASSERT_EQ(f32_to_f16(-std::nextafter(middle, INFINITY)), (h + 1) | 0x8000);
  }
}

TEST(Half, Bf16IsTheRoundedUpperHalf) {
  EXPECT_EQ(bf16_to_f32(0x3F80), 1.0f);
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3F80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808000u)), 0x3F80);  // tie to even
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F818000u)), 0x3F82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808001u)), 0x3F81);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7F7FFFFFu)), 0x7F80);  // the greatest f32 becomes infinity
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7F800001u)), 0x7FC0);  // a NaN stays one
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0xFF800001u)), 0xFFC0);
  for (uint32_t h = 0; h < 65536; ++h) {
    const float value = bf16_to_f32(static_cast<uint16_t>(h));
    if (std::isnan(value)) continue;
    ASSERT_EQ(f32_to_bf16(value), h);
  }
}

}  // namespace
}  // namespace brisk
