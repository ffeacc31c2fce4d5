#pragma once

#include "sampling/candidates.hpp"
#include "sampling/params.hpp"

#include <cstdint>
#include <memory>

namespace brisk::sampling {

/// One sampler of a chain. It belongs to one sequence and is called from one thread at a time.
class Step {
 public:
  Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  virtual ~Step() = default;

  virtual void apply(Candidates& candidates) = 0;
  /// A token that became part of the sequence, of the prompt or chosen.
  virtual void accept(int32_t /*token*/) {}
  /// Back to the state before the first accept().
  virtual void reset() {}
};

// Builders, one a file. Each returns null when the parameters switch it off.
std::unique_ptr<Step> make_logit_bias(const Params& params);
std::unique_ptr<Step> make_penalties(const Params& params);
std::unique_ptr<Step> make_top_k(const Params& params);
std::unique_ptr<Step> make_top_p(const Params& params);
std::unique_ptr<Step> make_min_p(const Params& params);
std::unique_ptr<Step> make_temperature(const Params& params);

}  // namespace brisk::sampling
