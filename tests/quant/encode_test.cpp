#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "golden_rows.hpp"
#include "quant/codec.hpp"

namespace brisk {
namespace {

constexpr size_t kCols = 512;
constexpr size_t kRows = 8;

const DType kEncodable[] = {DType::f16, DType::bf16, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0};

// Rows 0..7 of the source are what the golden blocks were made of: zeros, constants, one sign, tiny, large, spikes.
TEST(EncodeGolden, BytesEqualTheReferenceEncoder) {
  const auto source = test::read_f32(test::data_file("golden/quant/source-outlier.f32"));
  for (const DType dtype : kEncodable) {
    const auto want = test::read_bytes(test::data_file(test::file_name(dtype) + ".bin"));
    std::vector<std::byte> got(bytes_of(dtype, kCols * kRows));
    encode(dtype, std::span(source).first(kCols * kRows), got.data());
    ASSERT_EQ(got.size(), want.size());
    const uint64_t block_bytes = traits(dtype).block_bytes;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], want[i]) << traits(dtype).name << " block " << i / block_bytes << " byte " << i % block_bytes;
    }
  }
}

TEST(Encode, KnowsItsTypes) {
  for (const DType dtype : kEncodable) EXPECT_TRUE(can_encode(dtype)) << traits(dtype).name;
  EXPECT_TRUE(can_encode(DType::f32));
  EXPECT_FALSE(can_encode(DType::q4_k));
  EXPECT_FALSE(can_encode(DType::iq2_xxs));
  EXPECT_FALSE(can_encode(DType::i32));
}

TEST(Encode, ErrorStaysWithinHalfAStep) {
  const auto source = test::read_f32(test::data_file("golden/quant/source-outlier.f32"));
  const auto rows = std::span(source).subspan(8 * kCols, 32 * kCols);
  // Half a step of a symmetric code is amax / levels / 2; rounding the scale to f16 adds 2^-11 of the value, and the
  // symmetric types clip the far end by up to one step.
  const std::pair<DType, float> cases[] = {
      {DType::q8_0, 0.5f / 127}, {DType::q5_0, 1.0f / 16}, {DType::q4_0, 1.0f / 8}};
  for (const auto& [dtype, step] : cases) {
    std::vector<std::byte> blocks(bytes_of(dtype, rows.size()));
    encode(dtype, rows, blocks.data());
    std::vector<float> back(rows.size());
    decode(dtype, blocks.data(), back);
    for (size_t i = 0; i < rows.size(); ++i) {
      float amax = 0;
      for (size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) amax = std::max(amax, std::fabs(rows[j]));
      ASSERT_LE(std::fabs(back[i] - rows[i]), amax * (step * 1.001f + 0x1p-11f)) << traits(dtype).name << " " << i;
    }
  }
}

}  // namespace
}  // namespace brisk
