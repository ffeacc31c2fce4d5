#include "sampling/params.hpp"

#include "base/error.hpp"

#include <cmath>

namespace brisk::sampling {

void validate(const Params& params) {
  if (!(params.repeat_penalty > 0.0F) || !std::isfinite(params.repeat_penalty) ||
      !std::isfinite(1.0F / params.repeat_penalty)) {
    fail(ErrorCode::invalid_argument, "repeat penalty must be a finite number above 0, not {}", params.repeat_penalty);
  }
  if (!std::isfinite(params.presence_penalty)) {
    fail(ErrorCode::invalid_argument, "presence penalty must be finite, not {}", params.presence_penalty);
  }
  if (!std::isfinite(params.frequency_penalty)) {
    fail(ErrorCode::invalid_argument, "frequency penalty must be finite, not {}", params.frequency_penalty);
  }
  if (std::isnan(params.temperature) || std::isnan(params.top_p) || std::isnan(params.min_p)) {
    fail(ErrorCode::invalid_argument, "temperature, top-p and min-p must be numbers");
  }
  if (params.repeat_last_n < -1) {
    fail(ErrorCode::invalid_argument, "repeat-last-n must be at least -1, not {}", params.repeat_last_n);
  }
  if (params.min_keep < 0) fail(ErrorCode::invalid_argument, "min-keep must be at least 0, not {}", params.min_keep);
}

}  // namespace brisk::sampling
