#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace brisk::sampling {

struct Candidate {
  int32_t id;
  float logit;
  float p;  ///< valid after softmax() only
};

/// The tokens that are still in the running. A sampler changes logits, reorders or shrinks; equal logits keep the lower
/// id first wherever an order is asked for, so that the result never depends on a library's sort.
class Candidates {
 public:
  /// All tokens whose bit in `allowed` is set (32 to a word, token 0 lowest), in id order; an empty mask allows all. A
  /// logit that is not a number counts as -infinity.
  void assign(std::span<const float> logits, std::span<const uint32_t> allowed);

  [[nodiscard]] size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] bool sorted() const noexcept { return sorted_; }
  [[nodiscard]] std::span<const Candidate> items() const noexcept { return items_; }

  /// For changes of logits; the order counts as lost afterwards.
  [[nodiscard]] std::span<Candidate> modify() noexcept {
    sorted_ = false;
    return items_;
  }
  /// For changes that keep the order of the logits (a division by a positive number) or do not touch them.
  [[nodiscard]] std::span<Candidate> modify_in_order() noexcept { return items_; }

  /// logit += delta for the candidate of token `id`, if there is one. Quick while the order is still by id.
  void add_to_logit(int32_t id, float delta) noexcept;

  /// Puts the `n` best first, best of all at the front, and drops the rest.
  void keep_best(size_t n);
  void sort();
  /// Keeps the first `n` of the current order.
  void truncate(size_t n);
  /// Drops all whose logit is below `bound`; the order stays.
  void drop_below(float bound);

  [[nodiscard]] float max_logit() const noexcept;
  /// Index of the first largest logit.
  [[nodiscard]] size_t best() const noexcept;

  /// p = exp(logit - max) / sum, in single precision and in the current order.
  void softmax();

 private:
  std::vector<Candidate> items_;
  bool sorted_ = false;
};

}  // namespace brisk::sampling
