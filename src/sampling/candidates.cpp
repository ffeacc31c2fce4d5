#include "sampling/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace brisk::sampling {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

bool better(const Candidate& a, const Candidate& b) noexcept {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

float usable(float logit) noexcept { return std::isnan(logit) ? kMinusInfinity : logit; }

}  // namespace

void Candidates::assign(std::span<const float> logits, std::span<const uint32_t> allowed) {
  items_.clear();
  sorted_ = false;
  const auto n = static_cast<int32_t>(logits.size());
  if (allowed.empty()) {
    items_.resize(logits.size());
    for (int32_t id = 0; id < n; ++id) items_[id] = {id, usable(logits[id]), 0.0F};
    return;
  }
  for (int32_t id = 0; id < n; ++id) {
    const size_t word = static_cast<size_t>(id) / 32;
    if (word < allowed.size() && ((allowed[word] >> (id % 32)) & 1U) != 0) {
      items_.push_back({id, usable(logits[id]), 0.0F});
    }
  }
}

void Candidates::add_to_logit(int32_t id, float delta) noexcept {
  const auto index = static_cast<size_t>(id);
  auto it = items_.end();
  if (id >= 0 && index < items_.size() && items_[index].id == id) {
    it = items_.begin() + id;
  } else {
    it = std::find_if(items_.begin(), items_.end(), [id](const Candidate& c) { return c.id == id; });
  }
  if (it == items_.end()) return;
  it->logit = usable(it->logit + delta);
  sorted_ = false;
}

void Candidates::keep_best(size_t n) {
  n = std::min(n, items_.size());
  if (!sorted_) {
    std::partial_sort(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(n), items_.end(), better);
    sorted_ = true;
  }
  items_.resize(n);
}

void Candidates::sort() { keep_best(items_.size()); }

void Candidates::truncate(size_t n) { items_.resize(std::min(n, items_.size())); }

void Candidates::drop_below(float bound) {
  std::erase_if(items_, [bound](const Candidate& c) { return c.logit < bound; });
}

float Candidates::max_logit() const noexcept { return items_.empty() ? kMinusInfinity : items_[best()].logit; }

size_t Candidates::best() const noexcept {
  if (sorted_ || items_.empty()) return 0;
  const auto it = std::max_element(items_.begin(), items_.end(),
                                   [](const Candidate& a, const Candidate& b) { return a.logit < b.logit; });
  return static_cast<size_t>(it - items_.begin());
}

void Candidates::softmax() {
  const float max = max_logit();
  float sum = 0.0F;
  for (auto& c : items_) {
    // All of them at -infinity: exp(-inf - -inf) would be no number.
    c.p = c.logit == max ? 1.0F : std::exp(c.logit - max);
    sum += c.p;
  }
  for (auto& c : items_) c.p /= sum;
}

}  // namespace brisk::sampling
