#include "tools/bench.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cpu/cpu_backend.hpp"
#include "gguf/reader.hpp"
#include "test_support/paths.hpp"
#include "tools/bench_samples.hpp"

namespace brisk::tools {
namespace {

TEST(BenchSamples, MeanDeviationAndMedian) {
  const std::vector<double> values{4.0, 1.0, 7.0};
  EXPECT_DOUBLE_EQ(mean_of(values), 4.0);
  EXPECT_DOUBLE_EQ(deviation_of(values), 3.0);
  EXPECT_DOUBLE_EQ(median_of(values), 4.0);
  EXPECT_DOUBLE_EQ(median_of({4.0, 1.0, 7.0, 2.0}), 3.0);
}

TEST(BenchSamples, OneValueHasNoDeviationAndNoneHasNothing) {
  EXPECT_EQ(deviation_of(std::vector<double>{5.0}), 0.0);
  EXPECT_EQ(mean_of({}), 0.0);
  EXPECT_EQ(median_of({}), 0.0);
}

TEST(BenchSamples, RatesAreOfAllTokensOfARepetition) {
  const BenchSamples samples{.n_tokens = 20, .ns = {1'000'000'000, 500'000'000}};
  EXPECT_EQ(samples.tokens_per_second(), (std::vector<double>{20.0, 40.0}));
}

/// A tiny golden model whose layers are all full, and one with windows.
struct Loaded {
  explicit Loaded(const std::string& name)
      : file(gguf::Model::open(test::data_file("golden/arch/" + name + "/model.gguf"))),
        backend(make_cpu_backend({})),
        model(model::Model::load(file, *backend->devices()[0])) {}

  [[nodiscard]] std::unique_ptr<model::Runner> runner(const BenchTest& test, bool keep_windows = true) const {
    model::RunnerOptions options;
    options.n_ctx = test.n_prompt + test.n_gen + test.n_depth;
    options.n_batch = 16;
    options.keep_windows = keep_windows;
    return std::make_unique<model::Runner>(*model, *backend->devices()[0], options);
  }

  gguf::Model file;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<model::Model> model;
};

/// The stages of a run as letters, each with its repetition.
std::string stages_of(model::Runner& runner, const BenchTest& test, const BenchOptions& options) {
  std::string out;
  const auto note = [&](BenchStage stage, int32_t repetition) {
    out += "wgdkpt"[static_cast<int>(stage)];
    out += std::to_string(repetition);
  };
  const std::vector<int64_t> ns = run_bench(runner, test, options, note);
  EXPECT_EQ(ns.size(), static_cast<size_t>(options.repetitions));
  for (const int64_t time : ns) EXPECT_GT(time, 0);
  EXPECT_EQ(runner.kv().size(0), 0);
  return out;
}

TEST(Bench, RunsTheStagesInOrder) {
  const Loaded loaded("llama3-rope");
  const BenchTest both{.n_prompt = 40, .n_gen = 3};
  EXPECT_EQ(stages_of(*loaded.runner(both), both, {.repetitions = 2}), "w0g0p1t1p2t2");
  const BenchTest prompt{.n_prompt = 5};
  EXPECT_EQ(stages_of(*loaded.runner(prompt), prompt, {.repetitions = 1, .warmup = false}), "p1");
  const BenchTest generation{.n_gen = 5};
  EXPECT_EQ(stages_of(*loaded.runner(generation), generation, {.repetitions = 1}), "g0t1");
}

TEST(Bench, TheDepthIsComputedOnceAndKept) {
  const Loaded loaded("llama3-rope");
  const BenchTest test{.n_prompt = 4, .n_gen = 2, .n_depth = 70};
  EXPECT_EQ(stages_of(*loaded.runner(test), test, {.repetitions = 3}), "w0g0d1p1t1k2p2t2k3p3t3");
}

TEST(Bench, TheDepthIsComputedAgainWhereAWindowHasMovedOn) {
  const Loaded loaded("gemma3");
  const BenchTest test{.n_prompt = 256, .n_gen = 0, .n_depth = 128};
  EXPECT_EQ(stages_of(*loaded.runner(test, false), test, {.repetitions = 2}), "w0d1p1d2p2");
  EXPECT_EQ(stages_of(*loaded.runner(test, true), test, {.repetitions = 2}), "w0d1p1k2p2");
}

TEST(Bench, AContextThatIsTooSmallIsAnError) {
  const Loaded loaded("llama3-rope");
  const BenchTest test{.n_prompt = 32};
  const auto runner = loaded.runner({.n_prompt = 20});
  try {
    (void)run_bench(*runner, test, {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::context_full);
  }
}

}  // namespace
}  // namespace brisk::tools
