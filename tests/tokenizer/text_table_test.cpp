#include "tokenizer/text_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace brisk::tokenizer {
namespace {

TEST(TextTable, NumbersTextsInOrderAndFindsThem) {
  TextTable table;
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(table.intern("text " + std::to_string(i * 7919)), i);
  EXPECT_EQ(table.intern("text 7919"), 1u);
  EXPECT_EQ(table.size(), 5000u);
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(table.find(table[i]), i);
  EXPECT_FALSE(table.find("text"));
  EXPECT_FALSE(table.find("a text longer than any that the table holds"));
}

TEST(TextTable, TellsTextsApartThatDifferInLengthOrZeroBytesOnly) {
  TextTable table;
  const std::string zeros(20, '\0');
  for (size_t length = 1; length <= zeros.size(); ++length) {
    EXPECT_EQ(table.intern(zeros.substr(0, length)), length - 1);
  }
  EXPECT_EQ(table.longest(), 20u);
}

TEST(MergeTable, FirstRankOfAPairWins) {
  MergeTable merges;
  merges.reserve(2);
  merges.add(1, 2, 0, 30);
  merges.add(2, 1, 1, 31);
  merges.add(1, 2, 2, 32);
  ASSERT_NE(merges.find(1, 2), nullptr);
  EXPECT_EQ(merges.find(1, 2)->rank, 0u);
  EXPECT_EQ(merges.find(1, 2)->merged, 30u);
  EXPECT_EQ(merges.find(2, 1)->merged, 31u);
  EXPECT_EQ(merges.find(2, 2), nullptr);
}

}  // namespace
}  // namespace brisk::tokenizer
