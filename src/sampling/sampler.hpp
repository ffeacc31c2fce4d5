#pragma once

#include "base/rng.hpp"
#include "sampling/candidates.hpp"
#include "sampling/params.hpp"
#include "sampling/step.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace brisk::sampling {

/// What sample() returns when the mask leaves nothing to choose from.
inline constexpr int32_t kNoToken = -1;

/// Chooses the tokens of one sequence: logit biases, the chain of `params`, then a random pick (greedy: the best). One
/// thread at a time. The choice depends on seed, parameters, accepted tokens and logits only.
class Sampler {
 public:
  /// Throws Error(invalid_argument | unsupported) for parameters that make no chain.
  Sampler(const Params& params, int32_t n_vocab);

  /// `logits` [n_vocab] are left as they are. `allowed`: 32 tokens to a word, token 0 in the lowest bit; empty: all.
  [[nodiscard]] int32_t sample(std::span<const float> logits, std::span<const uint32_t> allowed = {});

  /// Tells the chain of a token of the sequence, of the prompt or sampled. sample() does not do it by itself, so that a
  /// token that is not taken over (a draft) leaves no trace.
  void accept(int32_t token);

  /// Forgets accepted tokens and starts the random stream anew from the seed.
  void reset();

  /// The candidates that the last sample() left, in the chain's order.
  [[nodiscard]] std::span<const Candidate> candidates() const noexcept { return candidates_.items(); }

  /// The seed in use: that of the parameters, or the one drawn for kRandomSeed.
  [[nodiscard]] uint32_t seed() const noexcept { return seed_; }

 private:
  [[nodiscard]] int32_t pick();

  uint32_t seed_;
  Rng rng_;
  int32_t n_vocab_;
  bool greedy_;
  std::vector<std::unique_ptr<Step>> steps_;
  Candidates candidates_;
};

struct TokenLogprob {
  int32_t token;
  float logprob;  ///< natural logarithm
};

/// The `n` most probable tokens of the softmax over all of `logits`, best first, the lower id first among equals.
std::vector<TokenLogprob> top_logprobs(std::span<const float> logits, size_t n);

/// The log-probability of one token under the same softmax.
float logprob(std::span<const float> logits, int32_t token);

}  // namespace brisk::sampling
