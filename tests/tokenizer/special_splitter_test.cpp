#include "tokenizer/special_splitter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "naive.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;

std::vector<std::string> shown(const Vocab& vocab, const std::vector<Fragment>& fragments) {
  std::vector<std::string> out;
  for (const Fragment& f : fragments)
    out.push_back(f.token == kNoToken ? std::string(f.text) : "#" + std::string(vocab.text(f.token)));
  return out;
}

TEST(SpecialSplitter, ControlTokensAreTextUnlessParsedAndUserDefinedOnesNever) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet()
      .token("<|im_start|>", Type::control)
      .token("<tool>", Type::user_defined)
      .token("<u>", Type::unknown);
  const auto tokenizer = toy.load();
  const SpecialSplitter splitter(tokenizer->vocab());
  const std::string_view text = "a<|im_start|>b<tool>c<u>";
  EXPECT_EQ(shown(tokenizer->vocab(), splitter.split(text, false)),
            (std::vector<std::string>{"a<|im_start|>b", "#<tool>", "c<u>"}));
  EXPECT_EQ(shown(tokenizer->vocab(), splitter.split(text, true)),
            (std::vector<std::string>{"a", "#<|im_start|>", "b", "#<tool>", "c", "#<u>"}));
  EXPECT_TRUE(splitter.split("", true).empty());
}

TEST(SpecialSplitter, LongerTokenWinsOverOneThatStartsFurtherLeft) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet().token("ab", Type::control).token("bcd", Type::control);
  const auto tokenizer = toy.load();
  const SpecialSplitter splitter(tokenizer->vocab());
  EXPECT_EQ(shown(tokenizer->vocab(), splitter.split("abcdab", true)), (std::vector<std::string>{"a", "#bcd", "#ab"}));
}

TEST(SpecialSplitter, EqualsTheRuleReadLiterallyOnRandomVocabularies) {
  std::mt19937 random(11);
  const std::string_view letters = "ab <";
  const auto word = [&](size_t most) {
    std::string text;
    for (size_t n = 1 + random() % most; n > 0; --n) text += letters[random() % letters.size()];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    ToyVocab toy("gpt2", "gpt-2");
    toy.text("general.name", round % 3 == 0 ? "Phi-3 mini" : "plain");  // phi-3: blanks behind special tokens go
    toy.byte_alphabet();
    std::vector<std::string> used;
    for (int i = 0; i < 6; ++i) {
      const std::string text = word(5) + "b";
      if (text.size() == 1 || std::find(used.begin(), used.end(), text) != used.end()) continue;
      used.push_back(text);
      toy.token(text, random() % 2 ? Type::control : Type::user_defined);
    }
    const auto tokenizer = toy.load();
    const Vocab& vocab = tokenizer->vocab();
    const SpecialSplitter splitter(vocab);
    for (int i = 0; i < 20; ++i) {
      const std::string text = word(40);
      for (const bool parse : {false, true}) {
        ASSERT_EQ(shown(vocab, splitter.split(text, parse)),
                  shown(vocab, test::split_specials_naively(vocab, text, parse)))
            << '"' << text << '"';
      }
    }
  }
}

TEST(SpecialSplitter, LstripTakesTheBlanksOnTheLeft) {
  ToyVocab toy("gpt2", "jina-v2-code");
  toy.byte_alphabet().token("<mask>", Type::control);
  const auto tokenizer = toy.load();
  const SpecialSplitter splitter(tokenizer->vocab());
  EXPECT_EQ(shown(tokenizer->vocab(), splitter.split("a \n\t<mask> b", true)),
            (std::vector<std::string>{"a", "#<mask>", " b"}));
  EXPECT_EQ(shown(tokenizer->vocab(), splitter.split("  <mask>", true)), (std::vector<std::string>{"#<mask>"}));
}

}  // namespace
}  // namespace brisk::tokenizer
