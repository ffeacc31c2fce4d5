#pragma once

#include "cli/bench_settings.hpp"
#include "tools/bench.hpp"
#include "tools/bench_format.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace brisk::cli {

/// A command line of the benchmark.
struct BenchCommand {
  bool native = true;  ///< brisk's own name: a few options more
  // What to do instead of measuring.
  bool help = false;
  bool version = false;
  bool list_devices = false;

  BenchLists lists;
  std::vector<bool> listed = std::vector<bool>(kBenchSettingCount, false);  ///< given on the command line
  std::vector<int32_t> n_prompt;
  std::vector<int32_t> n_gen;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  int32_t repetitions = 5;
  int32_t priority = 0;
  int32_t delay_s = 0;
  bool warmup = true;
  bool verbose = false;
  bool progress = false;
  const tools::BenchFormat* output = nullptr;         ///< to standard output
  const tools::BenchFormat* output_errors = nullptr;  ///< to standard error

  // brisk's own.
  bool median = false;  ///< in the results
  bool limits = false;  ///< measure the machine and print each result's share
};

/// Parses the words behind the program's name. Every list has at least one value in the end. Throws UsageError: its
/// text is what belongs on standard error.
[[nodiscard]] BenchCommand parse_bench(std::span<const std::string> args, bool native);

/// All combinations of the settings, in order.
[[nodiscard]] std::vector<BenchCombination> bench_combinations(const BenchLists& lists);
/// The tests of a combination: prompts, generations, pairs.
[[nodiscard]] std::vector<tools::BenchTest> bench_tests(const BenchCommand& command, int32_t depth);

[[nodiscard]] std::string bench_usage(const std::string& called_as, bool native);
/// The part of docs/flags.md about these options.
[[nodiscard]] std::string bench_options_markdown();

}  // namespace brisk::cli
