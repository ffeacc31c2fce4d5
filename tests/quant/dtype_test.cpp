#include "quant/dtype.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace brisk {
namespace {

TEST(DType, TableHasEveryTypeOnceInIdOrder) {
  uint32_t previous = 0;
  std::set<std::string_view> names;
  for (const DTypeTraits& type : all_dtypes()) {
    const auto id = static_cast<uint32_t>(type.dtype);
    EXPECT_TRUE(id == 0 || id > previous);
    previous = id;
    EXPECT_EQ(find_dtype(id), &type);
    EXPECT_EQ(&traits(type.dtype), &type);
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(type.quantized, type.block_length > 1) << type.name;
  }
  EXPECT_EQ(all_dtypes().size(), 35u);
}

TEST(DType, SizesOfBlocks) {
  struct Row {
    DType dtype;
    uint32_t length, bytes;
  };
  const Row rows[] = {
      {DType::f32, 1, 4},      {DType::q4_0, 32, 18},   {DType::q8_0, 32, 34},   {DType::q2_k, 256, 84},
      {DType::q3_k, 256, 110}, {DType::q4_k, 256, 144}, {DType::q6_k, 256, 210}, {DType::q8_k, 256, 292},
      {DType::iq1_s, 256, 50}, {DType::iq1_m, 256, 56}, {DType::tq1_0, 256, 54}, {DType::mxfp4, 32, 17},
      {DType::nvfp4, 64, 36},  {DType::q1_0, 128, 18},  {DType::q2_0, 64, 18},   {DType::i64, 1, 8}};
  for (const Row& row : rows) {
    EXPECT_EQ(traits(row.dtype).block_length, row.length) << traits(row.dtype).name;
    EXPECT_EQ(traits(row.dtype).block_bytes, row.bytes) << traits(row.dtype).name;
  }
  EXPECT_EQ(bytes_of(DType::q4_0, 64), 36u);
}

TEST(DType, NamesInAnyCase) {
  EXPECT_EQ(dtype_from_name("Q4_K"), DType::q4_k);
  EXPECT_EQ(dtype_from_name("q4_k"), DType::q4_k);
  EXPECT_EQ(dtype_from_name("BF16"), DType::bf16);
  EXPECT_EQ(dtype_from_name("q4"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
}

TEST(DType, RetiredAndForeignIdsAreNoTypes) {
  for (const uint32_t id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 43u, 144u, 0xFFFFFFFFu}) {
    EXPECT_EQ(find_dtype(id), nullptr) << id;
  }
  EXPECT_NE(describe_unknown_dtype(31).find("q4_0_4_4"), std::string::npos);
  EXPECT_NE(describe_unknown_dtype(31).find("take a q4_0 file"), std::string::npos);
  EXPECT_NE(describe_unknown_dtype(144).find("type id 144, which brisk does not know"), std::string::npos);
}

}  // namespace
}  // namespace brisk
