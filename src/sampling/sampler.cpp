#include "sampling/sampler.hpp"

#include "base/error.hpp"
#include "sampling/sampler_list.hpp"

#include <cmath>
#include <random>

namespace brisk::sampling {
namespace {

uint32_t resolve_seed(uint32_t seed) { return seed == kRandomSeed ? std::random_device{}() : seed; }

const Params& checked(const Params& params) {
  validate(params);
  return params;
}

}  // namespace

Sampler::Sampler(const Params& params, int32_t n_vocab)
    : seed_(resolve_seed(checked(params).seed)),
      rng_(seed_),
      n_vocab_(n_vocab),
      greedy_(params.temperature <= 0.0F),
      steps_(build_steps(params)) {}

int32_t Sampler::sample(std::span<const float> logits, std::span<const uint32_t> allowed) {
  BRISK_CHECK(logits.size() == static_cast<size_t>(n_vocab_), "one logit a token of the vocabulary");
  candidates_.assign(logits, allowed);
  for (const auto& step : steps_) step->apply(candidates_);
  if (candidates_.size() == 0) return kNoToken;
  return pick();
}

int32_t Sampler::pick() {
  if (greedy_) return candidates_.items()[candidates_.best()].id;
  candidates_.softmax();
  const double u = rng_.uniform();
  const auto items = candidates_.items();
  double sum = 0.0;
  for (const auto& c : items) sum += c.p;
  double running = 0.0;
  for (const auto& c : items) {
    running += c.p;
    // A draw of exactly 0 must not choose a token that cannot be.
    if (c.p > 0.0F && running >= u * sum) return c.id;
  }
  return items[candidates_.best()].id;
}

void Sampler::accept(int32_t token) {
  for (const auto& step : steps_) step->accept(token);
}

void Sampler::reset() {
  rng_ = Rng(seed_);
  for (const auto& step : steps_) step->reset();
}

}  // namespace brisk::sampling
