#include "sampling/step.hpp"

namespace brisk::sampling {
namespace {

// Keeps the k best. Unlike top-p and min-p it does not look at min_keep.
class TopKStep final : public Step {
 public:
  explicit TopKStep(int32_t k) : k_(static_cast<size_t>(k)) {}
  void apply(Candidates& candidates) override { candidates.keep_best(k_); }

 private:
  size_t k_;
};

}  // namespace

std::unique_ptr<Step> make_top_k(const Params& params) {
  if (params.top_k <= 0) return nullptr;
  return std::make_unique<TopKStep>(params.top_k);
}

}  // namespace brisk::sampling
