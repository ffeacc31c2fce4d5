#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "model/runner.hpp"

namespace brisk::tools {

struct PerplexityOptions {
  int32_t window = 512;        ///< tokens of a window; windows do not overlap
  int32_t n_windows = -1;      ///< most windows to compute; -1 = all
  std::optional<int32_t> bos;  ///< replaces each window's first token (vocabularies that add one)
};

struct Perplexity {
  int32_t n_windows = 0;
  int64_t n_scored = 0;
  double value = 0;  ///< exp of the mean negative log-likelihood
  double error = 0;  ///< value * standard error of that mean
};

/// Perplexity of a text: each window is computed alone, and the positions of its second half but the last are scored on
/// the token that follows. `on_window` is called after each window with the running result. The runner's sequence 0 is
/// used and cleared. Throws Error(invalid_argument) when the text has fewer than two windows of tokens or the window
/// does not fit.
Perplexity perplexity(model::Runner& runner, std::span<const int32_t> tokens, const PerplexityOptions& options,
                      const std::function<void(const Perplexity&)>& on_window = {});

/// Negative log-likelihood of `token` under softmax(logits), in nats.
[[nodiscard]] double negative_log_likelihood(std::span<const float> logits, int32_t token);

}  // namespace brisk::tools
