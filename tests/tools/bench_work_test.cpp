#include "tools/bench_work.hpp"

#include <gtest/gtest.h>

#include "test_support/paths.hpp"

namespace brisk::tools {
namespace {

ModelCost small_cost() {
  return {.layers = {.int8 = 1000, .fp32 = 0},
          .head = {.int8 = 200, .fp32 = 0},
          .bytes = 600,
          .all_bytes = 700,
          .kv = {{.bytes = 10, .window = 0}, {.bytes = 10, .window = 4}}};
}

TEST(BenchWork, KvGrowsUntilTheWindowIsFull) {
  const ModelCost cost = small_cost();
  EXPECT_DOUBLE_EQ(cost.kv_bytes(3), 60);
  EXPECT_DOUBLE_EQ(cost.kv_bytes(10), 140);
  EXPECT_DOUBLE_EQ(cost.working_set(10), 840);
}

TEST(BenchWork, APromptIsBoundByOperationsOrByReading) {
  const ModelCost cost = small_cost();
  const BatchSizes sizes{.n_batch = 8, .n_ubatch = 4};
  // 10 tokens in batches of 8: two heads; in runs of 4: three times the weights.
  const LeastTime ops = least_time(cost, {.n_prompt = 10}, sizes, {.int8_ops = 100, .fp32_ops = 1, .read_bytes = 1e9});
  EXPECT_DOUBLE_EQ(ops.seconds, (10 * 1000 + 2 * 200) / 100.0);
  EXPECT_EQ(ops.limit, "int8");
  const LeastTime read = least_time(cost, {.n_prompt = 10}, sizes, {.int8_ops = 1e9, .fp32_ops = 1, .read_bytes = 70});
  EXPECT_DOUBLE_EQ(read.seconds, 3 * 700 / 70.0);
  EXPECT_EQ(read.limit, "read");
}

TEST(BenchWork, AGenerationReadsItsWeightsAndKvForEveryToken) {
  const MachinePeaks peaks{.int8_ops = 1e9, .fp32_ops = 1e9, .read_bytes = 10};
  const LeastTime time = least_time(small_cost(), {.n_gen = 2, .n_depth = 10}, {8, 8}, peaks);
  EXPECT_DOUBLE_EQ(time.seconds, (600 + 140 + 600 + 150) / 10.0);
  EXPECT_EQ(time.limit, "read");
  const LeastTime both = least_time(small_cost(), {.n_prompt = 4, .n_gen = 1}, {8, 8}, {1, 1, 1e6});
  EXPECT_EQ(both.limit, "int8");
  EXPECT_DOUBLE_EQ(both.seconds, 4 * 1000 + 200 + 1200);
  EXPECT_EQ(least_time(small_cost(), {.n_prompt = 40, .n_gen = 1}, {64, 64}, {50, 1, 10}).limit, "mixed");
}

ModelCost cost_of_golden(const std::string& name) {
  const gguf::Model file = gguf::Model::open(test::data_file("golden/arch/" + name + "/model.gguf"));
  model::HyperParams params;
  params.layers = {{.n_head = 4, .n_head_kv = 2}};
  params.head_dim = params.head_dim_v = 16;
  if (name == "mixtral") params.moe = {.n_expert = 4, .n_used = 2};
  return cost_of(file, params, DType::f16, DType::q8_0);
}

TEST(BenchWork, CostsComeFromTheMatricesOfTheFile) {
  const gguf::Model file = gguf::Model::open(test::data_file("golden/arch/llama3-rope/model.gguf"));
  double values = 0;
  double head = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    const double n = static_cast<double>(tensor.shape[0]) * static_cast<double>(tensor.shape[1]);
    if (tensor.name.starts_with("blk.") && tensor.shape[1] > 1) values += n;
    if (tensor.name == "output.weight") head = n;
    if (tensor.name == "token_embd.weight" && head == 0) head = n;
  }
  const ModelCost cost = cost_of_golden("llama3-rope");
  EXPECT_DOUBLE_EQ(cost.layers.fp32, 2 * values);
  EXPECT_DOUBLE_EQ(cost.head.fp32, 2 * head);
  EXPECT_EQ(cost.layers.int8, 0);
  EXPECT_DOUBLE_EQ(cost.bytes, 4 * (values + head));
  EXPECT_DOUBLE_EQ(cost.bytes, cost.all_bytes);
  ASSERT_EQ(cost.kv.size(), 1U);
  EXPECT_DOUBLE_EQ(cost.kv[0].bytes, 32 * 2 + 32 / 32 * 34);
}

TEST(BenchWork, ATokenUsesSomeExpertsOnly) {
  const ModelCost cost = cost_of_golden("mixtral");
  EXPECT_LT(cost.bytes, cost.all_bytes);
  EXPECT_GT(cost.bytes, cost.all_bytes / 2);
}

}  // namespace
}  // namespace brisk::tools
