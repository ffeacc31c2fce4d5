#include "sampling/step.hpp"

#include <algorithm>
#include <cmath>

namespace brisk::sampling {
namespace {

// Keeps the tokens whose probability is at least p times the best one's, which in logits is
//   logit >= max + ln p,
// so no softmax is needed. When fewer than min_keep are left, the best min_keep stay.
class MinPStep final : public Step {
 public:
  MinPStep(float p, int32_t min_keep) : log_p_(std::log(p)), min_keep_(static_cast<size_t>(min_keep)) {}

  void apply(Candidates& candidates) override {
    if (candidates.size() == 0) return;
    const float max = candidates.max_logit();
    // p above 1 puts the bound over the best token, which always stays.
    const float bound = std::min(max + log_p_, max);
    const auto items = candidates.items();
    const auto above = std::count_if(items.begin(), items.end(), [&](const Candidate& c) { return c.logit >= bound; });
    if (static_cast<size_t>(above) >= min_keep_) {
      candidates.drop_below(bound);
    } else {
      candidates.keep_best(min_keep_);
    }
  }

 private:
  float log_p_;
  size_t min_keep_;
};

}  // namespace

std::unique_ptr<Step> make_min_p(const Params& params) {
  if (params.min_p <= 0.0F) return nullptr;
  return std::make_unique<MinPStep>(params.min_p, params.min_keep);
}

}  // namespace brisk::sampling
