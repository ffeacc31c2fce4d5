#include "cpu/pack/pack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "weights.hpp"

namespace brisk::cpu {
namespace {

using test::AlignedBytes;
using test::kWeightTypes;

TEST(Pack, EveryWeightTypeHasAFormatAndOthersAreRefused) {
  for (const DType dtype : kWeightTypes) EXPECT_NO_THROW(static_cast<void>(pack_format(dtype))) << traits(dtype).name;
  for (const DType dtype : {DType::i8, DType::i32, DType::f64, DType::q8_1, DType::q8_k}) {
    EXPECT_THROW(static_cast<void>(pack_format(dtype)), Error) << traits(dtype).name;
  }
}

constexpr DType kGridTypes[] = {DType::iq1_s, DType::iq1_m,   DType::iq2_xxs, DType::iq2_xs,
                                DType::iq2_s, DType::iq3_xxs, DType::iq3_s};

/// Bits a weight, 16 rows of 2048: docs/formats/packed-weights.md.
double packed_bits(DType dtype) {
  return 8.0 * static_cast<double>(group_bytes(pack_format(dtype), 2048)) / (16 * 2048);
}
double file_bits(DType dtype) { return 8.0 * static_cast<double>(bytes_of(dtype, 2048)) / 2048; }

TEST(Pack, WeightsGrowByFourPercentAtMost) {
  for (const DType dtype : kWeightTypes) {
    if (std::ranges::find(kGridTypes, dtype) != std::end(kGridTypes)) continue;
    const double most = dtype == DType::tq1_0 ? 2.0625 : 1.04 * file_bits(dtype);
    EXPECT_LE(packed_bits(dtype), most) << traits(dtype).name;
  }
}

TEST(Pack, GridTypesTakeTheBitsOfTheirLevels) {
  EXPECT_EQ(packed_bits(DType::iq1_s), 2.3125);
  EXPECT_EQ(packed_bits(DType::iq1_m), 2.5625);
  EXPECT_EQ(packed_bits(DType::iq2_xxs), 3.3125);
  EXPECT_EQ(packed_bits(DType::iq2_xs), 3.3125);
  EXPECT_EQ(packed_bits(DType::iq2_s), 3.3125);
  EXPECT_EQ(packed_bits(DType::iq3_xxs), 4.3125);
  EXPECT_EQ(packed_bits(DType::iq3_s), 4.3125);
}

TEST(Pack, GroupsAreWholeLines) {
  for (const DType dtype : kWeightTypes) {
    for (const int64_t k : {256, 512, 768})
      EXPECT_EQ(group_bytes(pack_format(dtype), k) % 64, 0u) << traits(dtype).name;
  }
}

TEST(Pack, UnpackedRowsEqualTheDecoder) {
  std::mt19937 random(7);
  for (const DType dtype : kWeightTypes) {
    const PackFormat format = pack_format(dtype);
    for (const int64_t k : {256, 1280}) {
      for (const int64_t n : {1, 15, 16, 35}) {
        const std::vector<std::byte> rows = test::random_rows(dtype, n, k, random);
        const AlignedBytes packed = test::pack_matrix(dtype, rows, n, k);
        std::vector<float> want(static_cast<size_t>(k));
        std::vector<float> got(static_cast<size_t>(k));
        for (int64_t row = 0; row < n; ++row) {
          decode(dtype, rows.data() + bytes_of(dtype, static_cast<uint64_t>(row * k)), want);
          const std::byte* group = packed.get() + group_bytes(format, k) * static_cast<uint64_t>(row / kGroupRows);
          unpack_row(format, group, static_cast<int>(row % kGroupRows), got);
          ASSERT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0)
              << traits(dtype).name << " k " << k << " row " << row << " of " << n;
        }
      }
    }
  }
}

TEST(Pack, ShortBlocksOfAnOddCountUnpackToo) {
  std::mt19937 random(8);
  for (const DType dtype :
       {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::iq4_nl, DType::mxfp4, DType::f16}) {
    for (const int64_t k : {32, 96, 576}) {
      const std::vector<std::byte> rows = test::random_rows(dtype, 16, k, random);
      const AlignedBytes packed = test::pack_matrix(dtype, rows, 16, k);
      std::vector<float> want(static_cast<size_t>(16 * k));
      decode(dtype, rows.data(), want);
      std::vector<float> got(static_cast<size_t>(k));
      for (int row = 0; row < 16; ++row) {
        unpack_row(pack_format(dtype), packed.get(), row, got);
        ASSERT_EQ(std::memcmp(want.data() + row * k, got.data(), got.size() * sizeof(float)), 0) << traits(dtype).name;
      }
    }
  }
}

TEST(Pack, PackingWritesTheGroupAndNothingElse) {
  std::mt19937 random(9);
  for (const DType dtype : kWeightTypes) {
    const uint64_t size = group_bytes(pack_format(dtype), 256);
    for (const int64_t n : {3, 16}) {
      const std::vector<std::byte> rows = test::random_rows(dtype, n, 256, random);
      const AlignedBytes packed = test::pack_matrix(dtype, rows, n, 256);
      const std::byte* after = packed.get() + size;
      EXPECT_TRUE(std::all_of(after, after + 64, [](std::byte b) { return b == std::byte{0xCD}; }))
          << traits(dtype).name;
    }
  }
}

TEST(CpuFeatures, NamesRoundTripAndTheBestIsSupported) {
  for (const Isa isa : test::host_isas()) EXPECT_EQ(isa_from_name(kernel_table(isa).name), isa);
  EXPECT_EQ(isa_from_name("avx512+vnni"), Isa::avx512_vnni);
  EXPECT_EQ(isa_from_name("avx-512"), std::nullopt);
  EXPECT_EQ(isa_from_name(""), std::nullopt);
  EXPECT_TRUE(isa_supported(best_isa()));
  EXPECT_TRUE(isa_supported(Isa::scalar));
}

}  // namespace
}  // namespace brisk::cpu
