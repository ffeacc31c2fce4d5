#include "engine/stop_filter.hpp"

#include <algorithm>
#include <utility>

namespace brisk::engine {

StopFilter::StopFilter(std::vector<std::string> stops, bool emit_stop)
    : stops_(std::move(stops)), emit_stop_(emit_stop) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

std::string StopFilter::push(std::string_view text) {
  if (stopped_) return {};
  if (stops_.empty()) return std::string(text);
  pending_ += text;
  // The earliest match wins; of two at one place the shorter, which the stream completed first.
  size_t at = std::string::npos;
  size_t length = 0;
  for (const std::string& stop : stops_) {
    const size_t found = pending_.find(stop);
    if (found < at || (found == at && found != std::string::npos && stop.size() < length)) {
      at = found;
      length = stop.size();
    }
  }
  if (at != std::string::npos) {
    stopped_ = true;
    std::string out = pending_.substr(0, emit_stop_ ? at + length : at);
    pending_.clear();
    return out;
  }
  const size_t safe = pending_.size() - held_length();
  std::string out = pending_.substr(0, safe);
  pending_.erase(0, safe);
  return out;
}

std::string StopFilter::flush() { return std::exchange(pending_, {}); }

size_t StopFilter::held_length() const {
  size_t held = 0;
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, pending_.size()); n > held; --n) {
      if (pending_.ends_with(std::string_view(stop).substr(0, n))) {
        held = n;
        break;
      }
    }
  }
  return held;
}

}  // namespace brisk::engine
