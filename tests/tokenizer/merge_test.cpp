#include "tokenizer/merge.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace brisk::tokenizer {
namespace {

/// Pairs by id with random priorities, many of them equal or lower than those of their parts.
struct RandomRules {
  PairMerge operator()(const Symbol& left, const Symbol& right) const {
    const auto at = pairs.find({left.id, right.id});
    return at == pairs.end() ? PairMerge{} : at->second;
  }
  std::map<std::pair<int32_t, int32_t>, PairMerge> pairs;
};

RandomRules make_rules(std::mt19937& random, uint32_t n_priorities) {
  RandomRules rules;
  for (int32_t merged = 4; merged < 60; ++merged) {
    const auto below = [&] { return static_cast<int32_t>(random() % static_cast<uint32_t>(merged)); };
    rules.pairs.try_emplace({below(), below()}, PairMerge{static_cast<uint32_t>(random() % n_priorities), merged});
  }
  return rules;
}

std::vector<Symbol> merge_naively(const RandomRules& rules, std::vector<Symbol> symbols) {
  for (;;) {
    PairMerge best;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const PairMerge pair = rules(symbols[i], symbols[i + 1]);
      if (pair.priority >= best.priority) continue;
      best = pair;
      at = i;
    }
    if (best.priority == PairMerge::kNever) return symbols;
    symbols[at] = {best.id, symbols[at].begin, symbols[at].size + symbols[at + 1].size};
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

TEST(Merger, AnyLengthGivesTheResultOfTheRuleReadLiterally) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const RandomRules rules = make_rules(random, 1 + static_cast<uint32_t>(random() % 40));
    Merger<RandomRules> merger(rules);
    for (const size_t length : {0u, 1u, 2u, 7u, 48u, 49u, 200u}) {
      std::vector<Symbol> symbols;
      for (uint32_t i = 0; i < length; ++i) symbols.push_back({static_cast<int32_t>(random() % 4), i, 1});
      const std::vector<Symbol> want = merge_naively(rules, symbols);
      merger.merge(symbols);
      ASSERT_EQ(symbols.size(), want.size()) << "round " << round << ", length " << length;
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(symbols[i].id, want[i].id);
        ASSERT_EQ(symbols[i].begin, want[i].begin);
        ASSERT_EQ(symbols[i].size, want[i].size);
      }
    }
  }
}

}  // namespace
}  // namespace brisk::tokenizer
