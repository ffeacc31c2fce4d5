#pragma once

#include "backend/backend.hpp"
#include "cpu/limits.hpp"
#include "tools/bench_work.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace brisk::cli {

/// The machine's limits as the benchmark needs them: measured when first asked for.
class BenchLimits {
 public:
  /// Of the device's instruction set, which must be the CPU's.
  explicit BenchLimits(const Device& device);

  /// With weights in huge pages, as the device keeps them.
  [[nodiscard]] tools::MachinePeaks peaks(int n_threads, double working_set);
  /// All limits for 1 to `n_threads` threads, as a Markdown table; `working_sets` in bytes.
  [[nodiscard]] std::string table(int n_threads, const std::vector<double>& working_sets);

 private:
  struct Line;

  [[nodiscard]] std::vector<Line> lines(const std::vector<double>& working_sets);

  std::string kernels_;
  cpu::Limits limits_;
};

}  // namespace brisk::cli
