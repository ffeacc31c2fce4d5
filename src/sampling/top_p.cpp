#include "sampling/step.hpp"

#include <algorithm>

namespace brisk::sampling {
namespace {

// Keeps the shortest run of the most probable tokens whose probabilities reach p; the token that reaches it stays.
class TopPStep final : public Step {
 public:
  TopPStep(float p, int32_t min_keep) : p_(p), min_keep_(static_cast<size_t>(min_keep)) {}

  void apply(Candidates& candidates) override {
    if (candidates.size() == 0) return;
    candidates.sort();
    candidates.softmax();
    float sum = 0.0F;
    size_t kept = 0;
    for (const auto& c : candidates.items()) {
      sum += c.p;
      ++kept;
      if (sum >= p_ && kept >= min_keep_) break;
    }
    candidates.truncate(kept);
  }

 private:
  float p_;
  size_t min_keep_;
};

}  // namespace

std::unique_ptr<Step> make_top_p(const Params& params) {
  if (params.top_p >= 1.0F) return nullptr;
  return std::make_unique<TopPStep>(params.top_p, params.min_keep);
}

}  // namespace brisk::sampling
