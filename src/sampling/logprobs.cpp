#include "sampling/sampler.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brisk::sampling {
namespace {

// ln of the sum of all exp(logit), scaled by the largest so that nothing overflows.
double log_sum(std::span<const float> logits) {
  double max = -std::numeric_limits<double>::infinity();
  for (const float logit : logits) max = std::max(max, static_cast<double>(logit));
  if (std::isinf(max)) return max;
  double sum = 0.0;
  for (const float logit : logits) sum += std::isnan(logit) ? 0.0 : std::exp(static_cast<double>(logit) - max);
  return max + std::log(sum);
}

// An impossible token is reported as the lowest finite number, which JSON can hold.
float clamp_logprob(double value) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  return std::isfinite(value) ? static_cast<float>(value) : kLowest;
}

}  // namespace

std::vector<TokenLogprob> top_logprobs(std::span<const float> logits, size_t n) {
  n = std::min(n, logits.size());
  if (n == 0) return {};
  Candidates candidates;
  candidates.assign(logits, {});
  candidates.keep_best(n);
  const double total = log_sum(logits);
  std::vector<TokenLogprob> out;
  out.reserve(n);
  for (const auto& c : candidates.items()) out.push_back({c.id, clamp_logprob(static_cast<double>(c.logit) - total)});
  return out;
}

float logprob(std::span<const float> logits, int32_t token) {
  BRISK_CHECK(token >= 0 && static_cast<size_t>(token) < logits.size(), "token of this vocabulary");
  return clamp_logprob(static_cast<double>(logits[token]) - log_sum(logits));
}

}  // namespace brisk::sampling
