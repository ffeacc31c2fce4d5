#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

namespace brisk::tokenizer {

/// A piece of a segment while it is being merged.
struct Symbol {
  int32_t id;  ///< what the look-up calls it; its meaning is the caller's
  uint32_t begin;
  uint32_t size;
};

/// What merging a pair gives; a lower priority value goes first, equal ones from left to right.
struct PairMerge {
  static constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
  uint32_t priority = kNever;
  int32_t id = -1;
};

/// Joins adjacent symbols until no pair can be joined: always the pair of the best priority, among equals the leftmost.
/// `Lookup` is PairMerge(const Symbol& left, const Symbol& right). Holds the memory between calls; one thread.
template <typename Lookup>
class Merger {
 public:
  explicit Merger(const Lookup& lookup) : lookup_(lookup) {}

  void merge(std::vector<Symbol>& symbols) {
    if (symbols.size() < 2) return;
    // A scan of a few adjacent numbers beats any queue; most words have fewer than 16 symbols.
    constexpr size_t kScanned = 48;
    if (symbols.size() <= kScanned) {
      merge_by_scan(symbols);
    } else {
      merge_by_buckets(symbols);
    }
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  void merge_by_scan(std::vector<Symbol>& symbols) {
    pairs_.clear();
    for (size_t i = 0; i + 1 < symbols.size(); ++i) pairs_.push_back(lookup_(symbols[i], symbols[i + 1]));
    for (;;) {
      size_t best = 0;
      for (size_t i = 1; i < pairs_.size(); ++i) {
        if (pairs_[i].priority < pairs_[best].priority) best = i;
      }
      if (pairs_.empty() || pairs_[best].priority == PairMerge::kNever) return;
      symbols[best].id = pairs_[best].id;
      symbols[best].size += symbols[best + 1].size;
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(best));
      if (best < pairs_.size()) pairs_[best] = lookup_(symbols[best], symbols[best + 1]);
      if (best > 0) pairs_[best - 1] = lookup_(symbols[best - 1], symbols[best]);
    }
  }

  // Long segments: the pairs of one priority form a bucket, read from left to right; a heap holds the priorities in
  // use. New pairs nearly always lie right of the ones before, so a bucket is an array and (for the rest) a small heap.
  // One heap of all pairs was 6 times slower on 10 MB of one letter: each of its operations misses the cache.
  struct Bucket {
    uint32_t priority = 0;
    bool active = false;
    size_t next = 0;
    std::vector<uint32_t> in_order;
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> out_of_order;

    void push(uint32_t at) {
      if (in_order.empty() || at >= in_order.back()) {
        in_order.push_back(at);
      } else {
        out_of_order.push(at);
      }
    }
    [[nodiscard]] bool empty() const { return next == in_order.size() && out_of_order.empty(); }
    uint32_t pop() {
      if (out_of_order.empty() || (next < in_order.size() && in_order[next] <= out_of_order.top())) {
        return in_order[next++];
      }
      const uint32_t at = out_of_order.top();
      out_of_order.pop();
      return at;
    }
  };
  struct Link {
    uint32_t prev;
    uint32_t next;
    PairMerge pair;  ///< with the next symbol
  };
  // A direct-mapped front of bucket_of_: a text uses few priorities at a time.
  struct RecentBucket {
    uint32_t priority = PairMerge::kNever;
    uint32_t bucket = 0;
  };
  static constexpr uint32_t kMostRecent = 1024;

  void merge_by_buckets(std::vector<Symbol>& symbols) {
    const auto n = static_cast<uint32_t>(symbols.size());
    links_.resize(n);
    recent_.assign(std::bit_floor(std::min(n, kMostRecent)), {});
    for (uint32_t i = 0; i < n; ++i) {
      links_[i] = {i == 0 ? kNone : i - 1, i + 1 == n ? kNone : i + 1, {}};
      if (i + 1 < n) queue_pair(i, lookup_(symbols[i], symbols[i + 1]));
    }
    while (!priorities_.empty()) drain_best(symbols);
    size_t kept = 0;
    for (uint32_t i = 0; i != kNone; i = links_[i].next) symbols[kept++] = symbols[i];
    symbols.resize(kept);
    buckets_.clear();
    bucket_of_.clear();
  }

  void queue_pair(uint32_t left, const PairMerge& pair) {
    links_[left].pair = pair;
    if (pair.priority == PairMerge::kNever) return;
    Bucket& bucket = bucket_for(pair.priority);
    bucket.push(left);
    if (bucket.active) return;
    bucket.active = true;
    priorities_.push(bucket.priority);
  }
  void queue_pair(const std::vector<Symbol>& symbols, uint32_t left) {
    const uint32_t right = links_[left].next;
    queue_pair(left, right == kNone ? PairMerge{} : lookup_(symbols[left], symbols[right]));
  }

  Bucket& bucket_for(uint32_t priority) {
    RecentBucket& recent = recent_[priority & (recent_.size() - 1)];
    if (recent.priority == priority) return buckets_[recent.bucket];
    const auto [at, is_new] = bucket_of_.try_emplace(priority, static_cast<uint32_t>(buckets_.size()));
    if (is_new) buckets_.emplace_back().priority = priority;
    recent = {priority, at->second};
    return buckets_[at->second];
  }

  /// Merges pairs of the best priority until its bucket is empty or a better priority turns up.
  void drain_best(std::vector<Symbol>& symbols) {
    const uint32_t priority = priorities_.top();
    const uint32_t index = bucket_of_.at(priority);
    while (!buckets_[index].empty() && priorities_.top() == priority) {
      const uint32_t left = buckets_[index].pop();
      Link& link = links_[left];
      if (link.pair.priority != priority) continue;  // the pair has changed since
      const uint32_t right = link.next;
      symbols[left].id = link.pair.id;
      symbols[left].size += symbols[right].size;
      link.next = links_[right].next;
      links_[right].pair = {};
      if (link.next != kNone) links_[link.next].prev = left;
      queue_pair(symbols, left);
      if (link.prev != kNone) queue_pair(symbols, link.prev);
    }
    if (priorities_.top() != priority) return;
    priorities_.pop();
    Bucket& bucket = buckets_[index];
    bucket.active = false;
    bucket.in_order.clear();
    bucket.next = 0;
  }

  const Lookup& lookup_;
  std::vector<PairMerge> pairs_;
  std::vector<Link> links_;
  std::vector<Bucket> buckets_;
  std::vector<RecentBucket> recent_;
  std::unordered_map<uint32_t, uint32_t> bucket_of_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> priorities_;
};

}  // namespace brisk::tokenizer
