#include "cli/bench_results.hpp"

#include <gtest/gtest.h>

namespace brisk::cli {
namespace {

using Texts = std::vector<std::string>;

Texts headings(const BenchCommand& command) {
  Texts out;
  for (const auto& column : bench_schema(command).columns) out.emplace_back(column.heading);
  return out;
}

std::string field(const BenchCommand& command, const tools::BenchResult& result, std::string_view name) {
  const tools::BenchSchema schema = bench_schema(command);
  EXPECT_EQ(schema.fields.size(), result.values.size());
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (schema.fields[i].name == name) return result.values[i];
  }
  return "no such field";
}

BenchMeasured measured(const BenchCommand& command) {
  return {.settings = bench_combinations(command.lists).front(),
          .test = {.n_prompt = 16, .n_gen = 8, .n_depth = 4},
          .time = "2026-01-31T12:00:00Z",
          .samples = {.n_tokens = 24, .ns = {1'000'000'000, 2'000'000'000, 6'000'000'001}},
          .share = BenchShare{"read", 0.5, {.int8_ops = 5e11, .fp32_ops = 1e11, .read_bytes = 2e10}}};
}

TEST(BenchResults, OnlySettingsThatSaySomethingHaveAColumn) {
  EXPECT_EQ(headings(parse_bench(Texts{"-m", "x.gguf", "-d", "0,8", "-ngl", "0", "-mg", "0"}, false)),
            (Texts{"model", "size", "params", "backend", "threads", "test", "t/s"}));
  EXPECT_EQ(
      headings(parse_bench(Texts{"-ctv", "q8_0", "-b", "1,2", "-fa", "1", "-lm", "none", "-sm", "row"}, false)),
      (Texts{"model", "size", "params", "backend", "threads", "n_batch", "type_v", "sm", "fa", "lm", "test", "t/s"}));
}

TEST(BenchResults, NumbersAreThoseOfTheRepetitions) {
  const BenchCommand command = parse_bench(Texts{"-t", "2"}, false);
  const BenchModel model{"llama 8B Q4_0", 3ULL << 30, 1'500'000'000, "a processor"};
  const tools::BenchResult result = bench_result(command, model, measured(command));
  EXPECT_EQ(field(command, result, "avg_ns"), "3000000000");
  EXPECT_EQ(field(command, result, "stddev_ns"), "2645751311");
  EXPECT_EQ(field(command, result, "avg_ts"), "13.333333");
  EXPECT_EQ(field(command, result, "n_prompt"), "16");
  EXPECT_EQ(field(command, result, "n_depth"), "4");
  EXPECT_EQ(field(command, result, "test_time"), "2026-01-31T12:00:00Z");
  EXPECT_EQ(field(command, result, "median_ns"), "no such field");
  EXPECT_EQ(result.cells, (Texts{"llama 8B Q4_0", "3.00 GiB", "1.50 B", "CPU", "2", "pp16+tg8 @ d4", "13.33 ± 10.07"}));
}

TEST(BenchResults, MedianAndShareWhenAskedFor) {
  const BenchCommand command = parse_bench(Texts{"-t", "2", "--median", "--limits"}, true);
  const tools::BenchResult result = bench_result(command, {}, measured(command));
  EXPECT_EQ(field(command, result, "median_ns"), "2000000000");
  EXPECT_EQ(field(command, result, "median_ts"), "12.000000");
  EXPECT_EQ(field(command, result, "limit"), "read");
  EXPECT_EQ(field(command, result, "share_of_limit"), "0.500000");
  EXPECT_EQ(field(command, result, "limit_int8_ops"), "500000000000");
  EXPECT_EQ(field(command, result, "limit_read_bytes"), "20000000000");
  EXPECT_EQ(result.cells.back(), "read 50.0 %");
}

TEST(BenchResults, NamesOfTests) {
  EXPECT_EQ(test_name({.n_prompt = 512}), "pp512");
  EXPECT_EQ(test_name({.n_gen = 128}), "tg128");
  EXPECT_EQ(test_name({.n_prompt = 1, .n_gen = 2, .n_depth = 3}), "pp1+tg2 @ d3");
}

}  // namespace
}  // namespace brisk::cli
