#include "tools/perplexity.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.hpp"

namespace brisk::tools {

namespace {

/// Tokens whose logits are held at a time: 64 rows of a 262 k vocabulary are 67 MB.
constexpr int32_t kScoredAtOnce = 64;

struct Sums {
  double nll = 0;
  double nll_squared = 0;
  int64_t n = 0;

  void add(double value) {
    nll += value;
    nll_squared += value * value;
    ++n;
  }
  [[nodiscard]] Perplexity result(int32_t n_windows) const {
    Perplexity p{n_windows, n, std::exp(nll / static_cast<double>(n)), 0};
    if (n > 1) {
      const double mean = nll / static_cast<double>(n);
      const double variance = nll_squared / static_cast<double>(n) - mean * mean;
      if (variance > 0) p.error = p.value * std::sqrt(variance / static_cast<double>(n - 1));
    }
    return p;
  }
};

void decode(model::Runner& runner, std::span<const int32_t> tokens, int32_t first, int32_t end, bool outputs) {
  model::Batch batch;
  for (int32_t i = first; i < end; ++i) batch.add(tokens[static_cast<size_t>(i)], i, 0, outputs);
  const model::DecodeResult result = runner.decode(batch);
  BRISK_CHECK(result.ok(), "a window fits into the cache");
}

/// Scores positions [window / 2, window - 1) on their next tokens.
void score_window(model::Runner& runner, std::span<const int32_t> tokens, Sums& sums) {
  const auto n = static_cast<int32_t>(tokens.size());
  runner.kv().clear(0);
  const int32_t half = n / 2;
  const int32_t step = std::min(runner.options().n_batch, n);
  for (int32_t i = 0; i < half; i += step) decode(runner, tokens, i, std::min(half, i + step), false);
  for (int32_t i = half; i + 1 < n;) {
    const int32_t end = std::min({n - 1, i + kScoredAtOnce, i + runner.options().n_batch});
    decode(runner, tokens, i, end, true);
    for (int32_t j = i; j < end; ++j) {
      sums.add(negative_log_likelihood(runner.logits(static_cast<size_t>(j - i)), tokens[static_cast<size_t>(j) + 1]));
    }
    i = end;
  }
}

}  // namespace

double negative_log_likelihood(std::span<const float> logits, int32_t token) {
  const float top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += static_cast<double>(std::exp(logit - top));
  return std::log(sum) - static_cast<double>(logits[static_cast<size_t>(token)] - top);
}

Perplexity perplexity(model::Runner& runner, std::span<const int32_t> tokens, const PerplexityOptions& options,
                      const std::function<void(const Perplexity&)>& on_window) {
  const int32_t window = options.window;
  if (window < 4 || window > runner.kv().options().n_ctx) {
    fail(ErrorCode::invalid_argument, "a window of {} tokens does not fit the context of {}", window,
         runner.kv().options().n_ctx);
  }
  if (tokens.size() < 2 * static_cast<size_t>(window)) {
    fail(ErrorCode::invalid_argument, "the text has {} tokens; {} are needed for a context of {}, give a longer text",
         tokens.size(), 2 * static_cast<size_t>(window), window);
  }
  Sums sums;
  Perplexity result;
  size_t n_windows = tokens.size() / static_cast<size_t>(window);
  if (options.n_windows >= 0) n_windows = std::min(n_windows, static_cast<size_t>(options.n_windows));
  for (size_t i = 0; i < n_windows; ++i) {
    const auto part = tokens.subspan(i * static_cast<size_t>(window), static_cast<size_t>(window));
    std::vector<int32_t> copy(part.begin(), part.end());
    if (options.bos) copy[0] = *options.bos;
    score_window(runner, copy, sums);
    result = sums.result(static_cast<int32_t>(i) + 1);
    if (on_window) on_window(result);
  }
  runner.kv().clear(0);
  return result;
}

}  // namespace brisk::tools
