#include "tools/bench_samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace brisk::tools {

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0.0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0.0;
  const double mean = mean_of(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

std::vector<double> BenchSamples::tokens_per_second() const {
  std::vector<double> rates;
  for (const int64_t time : ns) rates.push_back(1e9 * static_cast<double>(n_tokens) / static_cast<double>(time));
  return rates;
}

}  // namespace brisk::tools
