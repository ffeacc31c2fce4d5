#include "sampling/step.hpp"

#include <deque>
#include <unordered_map>

namespace brisk::sampling {
namespace {

// c = number of times a token is among the last n accepted ones (the prompt's included). c > 0:
//   logit = (logit <= 0 ? logit * repeat : logit / repeat) - (c * frequency + presence)
class PenaltiesStep final : public Step {
 public:
  explicit PenaltiesStep(const Params& params)
      : last_n_(params.repeat_last_n),
        repeat_(params.repeat_penalty),
        frequency_(params.frequency_penalty),
        presence_(params.presence_penalty) {}

  void apply(Candidates& candidates) override {
    if (counts_.empty()) return;
    for (auto& c : candidates.modify()) {
      const auto it = counts_.find(c.id);
      if (it == counts_.end()) continue;
      c.logit = c.logit <= 0.0F ? c.logit * repeat_ : c.logit / repeat_;
      c.logit -= static_cast<float>(it->second) * frequency_ + presence_;
    }
  }

  void accept(int32_t token) override {
    ++counts_[token];
    if (last_n_ < 0) return;
    window_.push_back(token);
    if (window_.size() <= static_cast<size_t>(last_n_)) return;
    const auto oldest = counts_.find(window_.front());
    if (--oldest->second == 0) counts_.erase(oldest);
    window_.pop_front();
  }

  void reset() override {
    window_.clear();
    counts_.clear();
  }

 private:
  int32_t last_n_;
  float repeat_;
  float frequency_;
  float presence_;
  std::deque<int32_t> window_;  // unused when the window is everything
  std::unordered_map<int32_t, int32_t> counts_;
};

}  // namespace

std::unique_ptr<Step> make_penalties(const Params& params) {
  const bool neutral =
      params.repeat_penalty == 1.0F && params.frequency_penalty == 0.0F && params.presence_penalty == 0.0F;
  if (neutral || params.repeat_last_n == 0) return nullptr;
  return std::make_unique<PenaltiesStep>(params);
}

}  // namespace brisk::sampling
