#include "quant/codec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "golden_rows.hpp"
#include "quant/half.hpp"

namespace brisk {
namespace {

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

void expect_same_bits(std::span<const float> got, std::span<const float> want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(bits(got[i]), bits(want[i])) << what << " element " << i << ": " << got[i] << " instead of " << want[i];
  }
}

void expect_decodes(DType dtype, const std::string& stem) {
  const auto blocks = test::read_bytes(test::data_file(stem + ".bin"));
  const auto want = test::read_f32(test::data_file(stem + ".f32"));
  ASSERT_EQ(blocks.size(), bytes_of(dtype, want.size())) << stem;
  std::vector<float> got(want.size());
  decode(dtype, blocks.data(), got);
  expect_same_bits(got, want, stem);
}

TEST(DecodeGolden, EncodedRowsBitForBit) {
  for (const DType dtype : test::golden_types()) expect_decodes(dtype, test::file_name(dtype));
}

TEST(DecodeGolden, RandomBlocksBitForBit) {
  for (const DType dtype : test::golden_types()) expect_decodes(dtype, test::file_name(dtype) + ".rand");
}

TEST(DecodeGolden, LevelsGiveTheSameValues) {
  for (const DType dtype : test::golden_types()) {
    if (!traits(dtype).quantized) continue;
    const auto blocks = test::read_bytes(test::data_file(test::file_name(dtype) + ".rand.bin"));
    const auto want = test::read_f32(test::data_file(test::file_name(dtype) + ".rand.f32"));
    for (size_t at = 0; at < want.size(); at += 32) {
      Levels levels;
      decode_levels(dtype, blocks.data(), static_cast<int64_t>(at / 32), levels);
      for (size_t i = 0; i < 32; ++i) {
        const float product = levels.scale[i / 16] * static_cast<float>(levels.q[i]);
        // == and not bit equality: a minimum of 0 turns -0 into +0.
        ASSERT_EQ(product + levels.min[i / 16], want[at + i]) << traits(dtype).name << " element " << at + i;
      }
    }
  }
}

// The types below have no golden file: expected values follow from the format's formula, by hand.

TEST(Decode, Q8_1ScalesItsBytes) {
  std::vector<std::byte> block(36);
  const uint16_t d = f32_to_f16(0.25f);
  std::memcpy(block.data(), &d, 2);
  for (int i = 0; i < 32; ++i) block[static_cast<size_t>(4 + i)] = static_cast<std::byte>(i - 16);
  std::vector<float> out(32);
  decode(DType::q8_1, block.data(), out);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], 0.25f * static_cast<float>(i - 16));
}

TEST(Decode, Q8KScalesItsBytesWithAFloat) {
  std::vector<std::byte> block(292);
  const float d = -0.1f;
  std::memcpy(block.data(), &d, 4);
  for (int i = 0; i < 256; ++i) block[static_cast<size_t>(4 + i)] = static_cast<std::byte>(i - 128);
  std::vector<float> out(256);
  decode(DType::q8_k, block.data(), out);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], d * static_cast<float>(i - 128));
}

TEST(Decode, Q2_0HasLevelsMinusOneToTwo) {
  std::vector<std::byte> block(18);
  const uint16_t d = f32_to_f16(1.5f);
  std::memcpy(block.data(), &d, 2);
  for (size_t i = 2; i < 18; ++i) block[i] = std::byte{0b11100100};  // levels 0 1 2 3 from the low bits up
  std::vector<float> out(64);
  decode(DType::q2_0, block.data(), out);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1.5f * (static_cast<float>(i % 4) - 1.0f));
}

TEST(Decode, Mxfp4HasSubnormalAndHugeScales) {
  std::vector<std::byte> block(17, std::byte{0x11});  // every nibble 1: the value 1
  std::vector<float> out(32);
  const std::pair<int, float> cases[] = {{0, 0x1p-128f}, {1, 0x1p-127f}, {2, 0x1p-126f}, {127, 0.5f}, {255, 0x1p127f}};
  for (const auto& [exponent, want] : cases) {
    block[0] = static_cast<std::byte>(exponent);
    decode(DType::mxfp4, block.data(), out);
    EXPECT_EQ(out[0], want) << exponent;
    EXPECT_EQ(out[31], want) << exponent;
  }
}

TEST(Decode, PlainTypesConvertByValue) {
  std::vector<float> out(2);
  const double doubles[] = {-1.5, 1e300};
  decode(DType::f64, reinterpret_cast<const std::byte*>(doubles), out);
  EXPECT_EQ(out[0], -1.5f);
  EXPECT_EQ(out[1], static_cast<float>(INFINITY));
  const int8_t i8[] = {-128, 127};
  decode(DType::i8, reinterpret_cast<const std::byte*>(i8), out);
  EXPECT_EQ(out, (std::vector<float>{-128, 127}));
  const int16_t i16[] = {-32768, 5};
  decode(DType::i16, reinterpret_cast<const std::byte*>(i16), out);
  EXPECT_EQ(out, (std::vector<float>{-32768, 5}));
  const int32_t i32[] = {-7, 1 << 24};
  decode(DType::i32, reinterpret_cast<const std::byte*>(i32), out);
  EXPECT_EQ(out, (std::vector<float>{-7, 16777216}));
  const int64_t i64[] = {int64_t{-1} << 40, 3};
  decode(DType::i64, reinterpret_cast<const std::byte*>(i64), out);
  EXPECT_EQ(out, (std::vector<float>{-0x1p40f, 3}));
  const float f32[] = {-0.0f, 3.25f};
  decode(DType::f32, reinterpret_cast<const std::byte*>(f32), out);
  expect_same_bits(out, f32, "f32");
}

TEST(Decode, EveryBitPatternOfEveryTypeIsSafe) {
  std::mt19937 random(7);
  for (const DTypeTraits& type : all_dtypes()) {
    std::vector<std::byte> block(type.block_bytes);
    std::vector<float> out(type.block_length);
    for (int round = 0; round < 200; ++round) {
      for (std::byte& byte : block) byte = static_cast<std::byte>(random());
      decode(type.dtype, block.data(), out);  // grid indices and shifts stay in range (sanitizers watch)
    }
    for (std::byte& byte : block) byte = std::byte{0xFF};
    decode(type.dtype, block.data(), out);
  }
}

}  // namespace
}  // namespace brisk
