#include "sampling/step.hpp"

#include <limits>

namespace brisk::sampling {
namespace {

// logit /= t. At t <= 0 every candidate but the first best one becomes impossible.
class TemperatureStep final : public Step {
 public:
  explicit TemperatureStep(float t) : t_(t) {}

  void apply(Candidates& candidates) override {
    if (t_ > 0.0F) {
      for (auto& c : candidates.modify_in_order()) c.logit /= t_;
      return;
    }
    const size_t best = candidates.best();
    const auto items = candidates.modify();
    for (size_t i = 0; i < items.size(); ++i) {
      if (i != best) items[i].logit = -std::numeric_limits<float>::infinity();
    }
  }

 private:
  float t_;
};

}  // namespace

std::unique_ptr<Step> make_temperature(const Params& params) {
  if (params.temperature == 1.0F) return nullptr;
  return std::make_unique<TemperatureStep>(params.temperature);
}

}  // namespace brisk::sampling
