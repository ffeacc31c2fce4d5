#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "quant/tables/grids.hpp"

namespace brisk::quant {
namespace {

template <typename Word>
uint64_t fnv1a(std::span<const Word> words) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const Word word : words) {
    for (size_t i = 0; i < sizeof word; ++i) hash = (hash ^ (word >> (8 * i) & 255)) * 0x100000001b3;
  }
  return hash;
}

/// A point as the ranks of its bytes in `values`, 2 or 3 bits each; -1 when a byte is none of them.
template <typename Word>
int64_t level_code(Word point, const std::vector<int>& values) {
  const int width = sizeof point == 8 ? 2 : 3;
  int64_t code = 0;
  for (size_t i = 0; i < sizeof point; ++i) {
    const auto found = std::find(values.begin(), values.end(), static_cast<int>(point >> (8 * i) & 255));
    if (found == values.end()) return -1;
    code |= (found - values.begin()) << (width * static_cast<int>(i));
  }
  return code;
}

template <typename Word>
void expect_grid(std::span<const Word> grid, uint64_t hash, const std::vector<int>& values) {
  EXPECT_EQ(fnv1a(grid), hash);
  int64_t previous = -1;
  for (const Word point : grid) {
    const int64_t code = level_code(point, values);
    EXPECT_GT(code, previous);
    previous = code;
  }
}

// Every grid is strictly ascending in level code; the hashes are FNV-1a over the little-endian words.
TEST(Grids, HaveTheirPointsInOrder) {
  expect_grid<uint64_t>(kIq2xxsGrid, 0xbb4ee025b5ac6e8e, {8, 25, 43});
  expect_grid<uint64_t>(kIq2xsGrid, 0xc9b1ee61e79909bd, {8, 25, 43});
  expect_grid<uint64_t>(kIq2sGrid, 0x123edd38a3b62b90, {8, 25, 43});
  expect_grid<uint64_t>(kIq1sGrid, 0x6703ed863501ae2e, {255, 0, 1});
  expect_grid<uint32_t>(kIq3xxsGrid, 0xdfa5dc83d6a155d5, {4, 12, 20, 28, 36, 44, 52, 62});
  expect_grid<uint32_t>(kIq3sGrid, 0xfa37020c25b44829, {1, 3, 5, 7, 9, 11, 13, 15});
}

}  // namespace
}  // namespace brisk::quant
