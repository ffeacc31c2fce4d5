#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace brisk::sampling {

inline constexpr uint32_t kRandomSeed = 0xFFFFFFFF;

struct LogitBias {
  int32_t token = 0;
  float bias = 0.0F;  ///< -infinity bans the token
  bool operator==(const LogitBias&) const = default;
};

/// What a request may ask of its sampler. The defaults are those of the command line; each sampler's file says which
/// values switch it off.
struct Params {
  uint32_t seed = kRandomSeed;
  float temperature = 0.8F;  ///< <= 0: greedy
  int32_t top_k = 40;
  float top_p = 0.95F;
  float min_p = 0.05F;
  int32_t min_keep = 0;         ///< top-p and min-p leave at least this many candidates
  int32_t repeat_last_n = 64;   ///< window of the three penalties; 0 off, -1 everything seen
  float repeat_penalty = 1.0F;  ///< > 0, finite, with a finite reciprocal
  float presence_penalty = 0.0F;
  float frequency_penalty = 0.0F;
  std::vector<LogitBias> logit_bias;
  /// Canonical names in the order in which they are applied; empty means the default order (sampler_list.hpp).
  std::vector<std::string> order;
  bool operator==(const Params&) const = default;
};

/// Throws Error(invalid_argument) that names the parameter and what it may be.
void validate(const Params& params);

}  // namespace brisk::sampling
