#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace brisk::tools {

[[nodiscard]] double mean_of(std::span<const double> values);
/// Of a sample (n - 1); 0 for fewer than two values.
[[nodiscard]] double deviation_of(std::span<const double> values);
/// The mean of the middle two for an even number; 0 for none.
[[nodiscard]] double median_of(std::vector<double> values);

/// The times of one test's repetitions.
struct BenchSamples {
  int64_t n_tokens = 0;     ///< of a repetition
  std::vector<int64_t> ns;  ///< by repetition

  [[nodiscard]] std::vector<double> tokens_per_second() const;
  [[nodiscard]] std::vector<double> nanoseconds() const { return {ns.begin(), ns.end()}; }
};

}  // namespace brisk::tools
