#include "tokenizer/special_splitter.hpp"

#include <algorithm>
#include <map>

namespace brisk::tokenizer {

namespace {

bool is_c_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

SpecialSplitter::SpecialSplitter(const Vocab& vocab) : vocab_(vocab) {
  constexpr uint16_t kSpecial = attribute::control | attribute::user_defined | attribute::unknown;
  std::vector<int32_t> tokens;
  for (int32_t id = 0; id < vocab.n_tokens(); ++id) {
    if (vocab.has(id, kSpecial)) tokens.push_back(id);
  }
  build(std::move(tokens));
}

/// Sorted texts make the children of a node adjacent ranges; the trie is laid out level by level.
void SpecialSplitter::build(std::vector<int32_t> tokens) {
  std::sort(tokens.begin(), tokens.end(), [&](int32_t a, int32_t b) { return vocab_.text(a) < vocab_.text(b); });
  struct Range {
    uint32_t node;
    size_t begin, end;
    size_t depth;
  };
  nodes_.emplace_back();
  std::vector<Range> open{{0, 0, tokens.size(), 0}};
  for (size_t next = 0; next < open.size(); ++next) {
    const Range range = open[next];
    size_t i = range.begin;
    if (i < range.end && vocab_.text(tokens[i]).size() == range.depth) {
      Node& node = nodes_[range.node];
      node.token = tokens[i++];
      node.always = !vocab_.has(node.token, attribute::control | attribute::unknown);
      longest_ = std::max(longest_, static_cast<uint32_t>(range.depth));
    }
    nodes_[range.node].first_child = static_cast<uint32_t>(nodes_.size());
    while (i < range.end) {
      const char byte = vocab_.text(tokens[i])[range.depth];
      size_t end = i + 1;
      while (end < range.end && vocab_.text(tokens[end])[range.depth] == byte) ++end;
      Node child;
      child.byte = static_cast<uint8_t>(byte);
      open.push_back({static_cast<uint32_t>(nodes_.size()), i, end, range.depth + 1});
      nodes_.push_back(child);
      ++nodes_[range.node].n_children;
      i = end;
    }
  }
  for (uint32_t i = 0; i < nodes_[0].n_children; ++i) {
    const uint32_t node = nodes_[0].first_child + i;
    roots_[nodes_[node].byte] = node;
  }
  for (const int32_t id : tokens) {
    const auto first = static_cast<uint8_t>(vocab_.text(id)[0]);
    starts_[1][first] = true;
    if (!vocab_.has(id, attribute::control | attribute::unknown)) starts_[0][first] = true;
  }
}

const SpecialSplitter::Node* SpecialSplitter::child(const Node& node, uint8_t byte) const noexcept {
  const Node* begin = nodes_.data() + node.first_child;
  if (node.n_children == 1) return begin->byte == byte ? begin : nullptr;
  const Node* end = begin + node.n_children;
  const Node* at = std::lower_bound(begin, end, byte, [](const Node& n, uint8_t b) { return n.byte < b; });
  return at != end && at->byte == byte ? at : nullptr;
}

struct SpecialSplitter::Candidate {
  int32_t token;
  uint32_t begin;
};

/// One text's search. Every position offers the longest token that begins there; lengths are worked off from the
/// longest down, and a position whose offer runs into a token already cut out offers its next shorter one. Since
/// whatever was cut out before is at least as long, two tokens overlap exactly when an end of the later one is taken.
class SpecialSplitter::Search {
 public:
  Search(const SpecialSplitter& splitter, std::string_view text, bool parse_special)
      : splitter_(splitter), text_(text), parse_special_(parse_special), offers_(splitter.longest_ + 1) {}

  std::vector<Cut> run() {
    for (uint32_t i = 0; i < text_.size(); ++i) {
      if (splitter_.starts_[parse_special_][static_cast<uint8_t>(text_[i])]) offer(i, splitter_.longest_);
    }
    if (found_) taken_.assign(text_.size(), false);
    for (uint32_t length = splitter_.longest_; found_ && length > 0; --length) settle(length);
    std::sort(cuts_.begin(), cuts_.end(), [](const Cut& a, const Cut& b) { return a.begin < b.begin; });
    return std::move(cuts_);
  }
  [[nodiscard]] bool taken(size_t at) const { return taken_[at]; }

 private:
  void offer(uint32_t begin, uint32_t max_length) {
    const Node* node = &splitter_.nodes_[splitter_.roots_[static_cast<uint8_t>(text_[begin])]];
    int32_t best = kNoToken;
    uint32_t best_length = 0;
    const auto limit = static_cast<uint32_t>(std::min<size_t>(max_length, text_.size() - begin));
    for (uint32_t length = 1; node != nullptr && length <= limit; ++length) {
      if (node->token != kNoToken && (parse_special_ || node->always)) {
        best = node->token;
        best_length = length;
      }
      node = length < limit ? splitter_.child(*node, static_cast<uint8_t>(text_[begin + length])) : nullptr;
    }
    if (best == kNoToken) return;
    found_ = true;
    offers_[best_length].push_back({best, begin});
  }

  void settle(uint32_t length) {
    std::vector<Candidate> offers = std::move(offers_[length]);
    const auto before = [](const Candidate& a, const Candidate& b) {
      return a.token != b.token ? a.token < b.token : a.begin < b.begin;
    };
    if (!std::is_sorted(offers.begin(), offers.end(), before)) std::sort(offers.begin(), offers.end(), before);
    for (const Candidate& offered : offers) {
      if (taken_[offered.begin]) continue;
      if (taken_[offered.begin + length - 1]) {
        offer(offered.begin, length - 1);
      } else {
        take(offered, length);
      }
    }
  }

  void take(const Candidate& candidate, uint32_t length) {
    const uint32_t end = candidate.begin + length;
    std::fill(taken_.begin() + candidate.begin, taken_.begin() + end, true);
    cuts_.push_back({candidate.begin, end, candidate.token});
    const uint16_t attributes = splitter_.vocab_.attributes(candidate.token);
    if (attributes & attribute::lstrip) {
      for (uint32_t i = candidate.begin; i > 0 && !taken_[i - 1] && is_c_space(text_[i - 1]); --i) taken_[i - 1] = true;
    }
    if (attributes & attribute::rstrip) {
      for (uint32_t i = end; i < text_.size() && !taken_[i] && is_c_space(text_[i]); ++i) taken_[i] = true;
    }
  }

  const SpecialSplitter& splitter_;
  std::string_view text_;
  bool parse_special_;
  bool found_ = false;
  std::vector<std::vector<Candidate>> offers_;  ///< by length
  std::vector<bool> taken_;
  std::vector<Cut> cuts_;
};

std::vector<Fragment> SpecialSplitter::split(std::string_view text, bool parse_special) const {
  if (text.empty()) return {};
  Search search(*this, text, parse_special);
  const std::vector<Cut> cuts = search.run();
  if (cuts.empty()) return {{kNoToken, text}};
  std::vector<Fragment> fragments;
  const auto add_text = [&](size_t begin, size_t end) {
    // Blanks that a neighbour stripped away are gone.
    while (begin < end && search.taken(begin)) ++begin;
    while (begin < end && search.taken(end - 1)) --end;
    if (begin < end) fragments.push_back({kNoToken, text.substr(begin, end - begin)});
  };
  size_t done = 0;
  for (const Cut& cut : cuts) {
    add_text(done, cut.begin);
    fragments.push_back({cut.token, {}});
    done = cut.end;
  }
  add_text(done, text.size());
  return fragments;
}

}  // namespace brisk::tokenizer
