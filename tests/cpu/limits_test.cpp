#include "cpu/limits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cpu/cpu_features.hpp"

namespace brisk::cpu {
namespace {

template <typename Check>
void for_each_isa(Check check) {
  for (int i = 0; i < kIsaCount; ++i) {
    const auto isa = static_cast<Isa>(i);
    if (isa_supported(isa)) check(limit_kernels(isa), kernel_table(isa).name);
  }
}

TEST(Limits, ReadingSeesEveryLine) {
  alignas(64) static unsigned char data[4096] = {};
  for_each_isa([](const LimitKernels& kernels, const char* name) {
    EXPECT_EQ(kernels.read(data, sizeof(data)), 0U) << name;
    uint64_t differing = 0;
    for (size_t i = 0; i < sizeof(data); i += 64) {
      data[i] = 1;
      differing += kernels.read(data, sizeof(data)) != 0 ? 1 : 0;
      data[i] = 0;
    }
    EXPECT_EQ(differing, sizeof(data) / 64) << name;
  });
}

TEST(Limits, LoopsComputeAllTheirRounds) {
  for_each_isa([](const LimitKernels& kernels, const char* name) {
    // Each of the 12 chains gains 1 + 2 + 3 + 4 a round in every lane and starts at its number (0 to 11).
    const uint64_t lane = kernels.dot(1000) & 0xFFFF'FFFF;
    EXPECT_EQ(lane, 12U * 1000 * 10 + 66) << name;
    // x = x / 2 + 1 tends to 2 in each chain.
    EXPECT_NEAR(kernels.fma(200), 24.0F, 1e-3F) << name;
    EXPECT_GT(kernels.dot_ops, kernels.fma_ops) << name;
  });
}

TEST(Limits, FiguresArePositiveAndRemembered) {
  Limits limits(best_isa());
  for (const int n_threads : {1, 2}) {
    EXPECT_GT(limits.dot_ops(n_threads), 1e8);
    EXPECT_GT(limits.fma_ops(n_threads), 1e8);
    const double rate = limits.read_bytes(n_threads, 100'000, false);
    EXPECT_GT(rate, 1e8);
    EXPECT_EQ(limits.read_bytes(n_threads, 100'000, false), rate);
    EXPECT_GT(limits.read_bytes(n_threads, 1, true), 1e6);
  }
}

}  // namespace
}  // namespace brisk::cpu
