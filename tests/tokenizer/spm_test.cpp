#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "naive.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;
using Texts = std::vector<std::string>;

constexpr EncodeOptions kPlain{.add_special = false, .parse_special = true};

Texts texts(const Tokenizer& tokenizer, std::string_view text) {
  Texts out;
  for (const int32_t id : tokenizer.encode(text, kPlain)) out.emplace_back(tokenizer.vocab().text(id));
  return out;
}

ToyVocab base() {
  ToyVocab toy("llama");
  toy.token("<unk>", Type::unknown).token("<s>", Type::control).token("</s>", Type::control).byte_tokens();
  return toy;
}

TEST(Spm, PrefixSpaceAtTheStartAndBehindSpecialTokens) {
  ToyVocab toy = base();
  toy.token("▁").token("▁a", Type::normal, -1).token("a");
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, "a"), (Texts{"▁a"}));
  EXPECT_EQ(texts(*tokenizer, "a</s>a"), (Texts{"▁a", "</s>", "▁a"}));
  EXPECT_EQ(texts(*tokenizer, " a"), (Texts{"▁", "▁a"}));
  EXPECT_EQ(texts(*tokenizer, ""), Texts{});
}

TEST(Spm, BestScoreFirstThenFromTheLeft) {
  ToyVocab toy = base();
  toy.flag("add_space_prefix", false);
  toy.tokens({"a", "b", "c"}).token("ab", Type::normal, -2).token("bc", Type::normal, -1).token("aa", Type::normal, -3);
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, "abc"), (Texts{"a", "bc"}));
  EXPECT_EQ(texts(*tokenizer, "aaa"), (Texts{"aa", "a"}));
}

TEST(Spm, ByteFallbackIsExact) {
  ToyVocab toy = base();
  toy.token("▁");
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, "é"), (Texts{"▁", "<0xC3>", "<0xA9>"}));
  const std::string bytes = "\xF7\x81 \x10\xE6\xAD\xFF";  // a lead byte must not swallow the space
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(bytes, kPlain)), bytes);
}

TEST(Spm, WithoutByteTokensTheUnknownTokenStandsIn) {
  ToyVocab toy("llama");
  toy.token("<unk>", Type::unknown).token("<s>", Type::control).token("</s>", Type::control).token("▁").token("a");
  EXPECT_EQ(texts(*toy.load(), "aé"), (Texts{"▁", "a", "<unk>", "<unk>"}));
}

TEST(Spm, EqualsTheRuleReadLiterallyWithBlanksInsideTokens) {
  std::mt19937 random(17);
  const Texts letters = {"a", "b", "▁", "é"};
  for (int round = 0; round < 150; ++round) {
    ToyVocab toy = base();
    toy.flag("add_space_prefix", false).tokens(letters);
    Texts known = letters;
    for (int i = 0; i < 25; ++i) {
      const std::string text = known[random() % known.size()] + known[random() % known.size()];
      if (std::find(known.begin(), known.end(), text) != known.end()) continue;
      known.push_back(text);
      toy.token(text, Type::normal, -static_cast<float>(random() % 12));
    }
    const auto tokenizer = toy.load();
    std::string text;
    for (size_t n = random() % 150; n > 0; --n) text += letters[random() % letters.size()];
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
      const bool blank = text.compare(i, 3, "▁") == 0;
      plain += blank ? ' ' : text[i];
      if (blank) i += 2;
    }
    ASSERT_EQ(texts(*tokenizer, plain), test::merge_by_score_naively(tokenizer->vocab(), text));
  }
}

}  // namespace
}  // namespace brisk::tokenizer
