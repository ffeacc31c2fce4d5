#include "sampling/step.hpp"

#include <utility>

namespace brisk::sampling {
namespace {

// logit += bias for every listed token; several entries for one token add up.
class LogitBiasStep final : public Step {
 public:
  explicit LogitBiasStep(std::vector<LogitBias> biases) : biases_(std::move(biases)) {}

  void apply(Candidates& candidates) override {
    for (const auto& entry : biases_) candidates.add_to_logit(entry.token, entry.bias);
  }

 private:
  std::vector<LogitBias> biases_;
};

}  // namespace

std::unique_ptr<Step> make_logit_bias(const Params& params) {
  if (params.logit_bias.empty()) return nullptr;
  return std::make_unique<LogitBiasStep>(params.logit_bias);
}

}  // namespace brisk::sampling
