#pragma once

#include "cli/bench_options.hpp"
#include "cli/loaded_model.hpp"
#include "tools/bench_format.hpp"
#include "tools/bench_work.hpp"

#include <optional>
#include <string>

namespace brisk::cli {

/// What is known about a loaded model.
struct BenchModel {
  std::string type;  ///< "llama 8B Q4_K - Medium"
  uint64_t size_bytes = 0;
  uint64_t n_parameters = 0;
  std::string processor;
};

[[nodiscard]] BenchModel describe(const LoadedModel& loaded);

/// How near a result came to what the machine can do.
struct BenchShare {
  std::string_view limit;  ///< what bounds the test: tools::LeastTime
  double share = 0.0;      ///< least time by that limit / the median of the measured ones
  tools::MachinePeaks peaks;
};

/// One measured test.
struct BenchMeasured {
  BenchCombination settings;
  tools::BenchTest test;
  std::string time;  ///< "2026-01-31T12:00:00Z", when it began
  tools::BenchSamples samples;
  std::optional<BenchShare> share;
};

/// Fields and columns of a run.
[[nodiscard]] tools::BenchSchema bench_schema(const BenchCommand& command);
[[nodiscard]] tools::BenchResult bench_result(const BenchCommand& command, const BenchModel& model,
                                              const BenchMeasured& measured);

/// "pp512", "tg128", "pp512+tg128", with " @ d4096" behind a depth.
[[nodiscard]] std::string test_name(const tools::BenchTest& test);

}  // namespace brisk::cli
