#include "tokenizer/splitter.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "base/utf8.hpp"
#include "tokenizer/unicode_updates.hpp"

namespace brisk::tokenizer {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view pre, std::string_view text, bool compat = false) {
  const PreTokenizer* row = find_pre_tokenizer(pre);
  if (row == nullptr) return {"no such pre-tokenizer"};
  Words words;
  size_t begin = 0;
  for (const uint32_t end : Splitter(*row->rules, compat).split(text)) {
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::set<const SplitRules*> all_rules() {
  std::set<const SplitRules*> rules;
  for (const PreTokenizer& row : pre_tokenizers()) rules.insert(row.rules);
  return rules;
}

TEST(Splitter, Gpt2) {
  EXPECT_EQ(split("gpt-2", "Hello  world's 12345!?\n\n x"),
            (Words{"Hello", " ", " world", "'s", " 12345", "!?", "\n\n", " x"}));
}

TEST(Splitter, Llama3) {
  EXPECT_EQ(split("llama-bpe", "(don'T 1234  \n\n end.\n"),
            (Words{"(don", "'T", " ", "123", "4", "  \n\n", " end", ".\n"}));
}

TEST(Splitter, Qwen2TakesDigitsAlone) { EXPECT_EQ(split("qwen2", "a 123"), (Words{"a", " ", "1", "2", "3"})); }

TEST(Splitter, Qwen35KeepsMarksWithTheirLetters) {
  EXPECT_EQ(split("qwen2", "नमस्ते"), (Words{"नमस", "्त", "े"}));
  EXPECT_EQ(split("qwen35", "नमस्ते"), (Words{"नमस्ते"}));
}

TEST(Splitter, DefaultCutsPunctuationAndThreeDigits) {
  EXPECT_EQ(split("default", "a, 12345"), (Words{"a", ",", " ", "123", "45"}));
}

TEST(Splitter, StarcoderCutsDigitsBeforeWords) {
  EXPECT_EQ(split("smollm", "in 42 a"), (Words{"in", " ", "4", "2", " a"}));
}

TEST(Splitter, TekkenSeesCamelCaseInEveryScript) {
  EXPECT_EQ(split("tekken", "fooBar XMLHttp"), (Words{"foo", "Bar", " XMLHttp"}));
  EXPECT_EQ(split("tekken", "приветМир"), (Words{"привет", "Мир"}));
  EXPECT_EQ(split("tekken", "приветМир", true), (Words{"приветМир"}));
  EXPECT_EQ(split("tekken", "हिन्दी"), (Words{"हिन्दी"}));
}

TEST(Splitter, Gpt4oKeepsContractionsWithTheWord) {
  EXPECT_EQ(split("gpt-4o", "don't 1234//\n"), (Words{"don't", " ", "123", "4", "//\n"}));
}

TEST(Splitter, DeepseekV3) {
  EXPECT_EQ(split("deepseek-v3", "x=1234 !abc中文字"), (Words{"x", "=", "123", "4", " !", "abc", "中文字"}));
}

TEST(Splitter, DeepseekLlmCutsTrailingBlanksOff) {
  EXPECT_EQ(split("deepseek-llm", "Hello 12 中a \n  "), (Words{"Hello", " ", "12", " ", "中", "a", " ", "\n", "  "}));
}

TEST(Splitter, LaterStagesCutWhatEarlierOnesMatched) {
  // The third stage's :-~ covers Latin letters, so it cuts an accented letter out of the word of the second.
  EXPECT_EQ(split("deepseek-llm", "Héllo"), (Words{"H", "é", "llo"}));
  EXPECT_EQ(split("chameleon", "a<sentinel:12>IMGIMGAABZ 7"),
            (Words{"a", "<", "sentinel", ":", "1", "2", ">", "IMGIMGAABZ", " ", "7"}));
}

TEST(Splitter, Jais2CutsLongRunsOfBlanksIntoPowersOfTwo) {
  std::vector<size_t> sizes;
  for (const std::string& word : split("jais-2", std::string(1000, ' '))) sizes.push_back(word.size());
  EXPECT_EQ(sizes, (std::vector<size_t>{512, 256, 128, 64, 32, 8}));
  // A line break behind blanks is found from the start of the run, also behind a word that ended in line breaks.
  EXPECT_EQ(split("jais-2", "a!\n  \n  b"), (Words{"a", "!\n", "  \n", " ", " b"}));
}

TEST(Splitter, DigitGroupsCountFromTheRight) {
  EXPECT_EQ(split("superbpe", "a1234567b"), (Words{"a", "1", "234", "567", "b"}));
  EXPECT_EQ(split("afmoe", "12345"), (Words{"12", "345"}));
  EXPECT_EQ(split("tiny_aya", "12345 123456"), (Words{"12", "345", " ", "123", "456"}));
  EXPECT_EQ(split("tiny_aya", "12345x"), (Words{"123", "45", "x"}));  // a word character behind: no boundary
  EXPECT_EQ(split("tiny_aya", "12345x", true), (Words{"12", "345", "x"}));
}

TEST(Splitter, KimiCutsHanFromOtherLetters) {
  EXPECT_EQ(split("kimi-k2", "abc中文Def's"), (Words{"abc", "中文", "Def's"}));
  EXPECT_EQ(split("kimi-k2", "fooBar"), (Words{"foo", "Bar"}));
  EXPECT_EQ(split("kimi-k2", "fooBar", true), (Words{"fooBar"}));
}

TEST(Splitter, BloomAndViking) {
  EXPECT_EQ(split("bloom", "one, two 12"), (Words{"one", ",", " two", " 12"}));
  EXPECT_EQ(split("viking", "two 12"), (Words{"two", " ", "1", "2"}));
}

TEST(Splitter, ExaoneMoeJoinsLettersOverSingleSpaces) {
  EXPECT_EQ(split("exaone-moe", "one two  three"), (Words{"one two", " ", " three"}));
}

TEST(Splitter, LinesOfGemmaAndLaguna) {
  EXPECT_EQ(split("gemma4", "ab c\n\nd"), (Words{"ab c", "\n\n", "d"}));
  EXPECT_EQ(split("laguna", "a 1\n\n b"), (Words{"a", " ", "1", "\n\n", " b"}));
}

TEST(Splitter, MongolianVowelSeparatorIsNoWhitespace) {
  EXPECT_EQ(split("llama-bpe", "\u180E\u180E"), (Words{"\u180E\u180E"}));
  EXPECT_EQ(split("llama-bpe", "\u3000\u3000a"), (Words{"\u3000", "\u3000a"}));
}

TEST(Splitter, CodePointsNewerThanPcre2KeepTheirClass) {
  EXPECT_EQ(split("llama-bpe", "a\U00010D50\u1C8Ab"), (Words{"a\U00010D50\u1C8Ab"}));  // letters of Unicode 16
  EXPECT_EQ(split("deepseek-v3", " \U0001F77C"), (Words{" \U0001F77C"}));              // a symbol of Unicode 15
  EXPECT_EQ(split("qwen2", "\U00031350"), (Words{"\U00031350"}));
  EXPECT_EQ(classified_like('a'), uint32_t{'a'});
  EXPECT_EQ(classified_like(0x31350), 0x20000u);
  EXPECT_EQ(classified_like(0x323AF), 0x20000u);
  EXPECT_EQ(classified_like(0x323B0), 0x323B0u);
}

TEST(Splitter, StandInsHaveTheLengthOfWhatTheyStandFor) {
  for (uint32_t cp = 0; cp < 0x110000; ++cp) {
    if (cp >= 0xD800 && cp < 0xE000) continue;
    std::string a;
    std::string b;
    utf8::append(a, cp);
    utf8::append(b, classified_like(cp));
    ASSERT_EQ(a.size(), b.size()) << std::hex << cp;
  }
}

TEST(Splitter, EveryRuleCutsAnyBytesWithoutLosingOne) {
  std::mt19937 random(3);
  const std::string_view alphabet = "ab'S  \n\r\t12.!\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80\xFF\xE2\x80";
  for (const SplitRules* rules : all_rules()) {
    for (const bool compat : {false, true}) {
      const Splitter splitter(*rules, compat);
      for (int round = 0; round < 60; ++round) {
        std::string text;
        for (size_t n = random() % 60; n > 0; --n) text += alphabet[random() % alphabet.size()];
        uint32_t last = 0;
        for (const uint32_t end : splitter.split(text)) {
          ASSERT_GT(end, last) << rules->name;
          last = end;
        }
        ASSERT_EQ(last, text.size()) << rules->name;
      }
    }
  }
}

// cases 038, 041
TEST(Splitter, LongRunsFollowTheRuleOfShortOnes) {
  std::string pairs;
  for (int i = 0; i < 100'000; ++i) pairs += "ab";
  for (const SplitRules* rules : all_rules()) {
    const Splitter splitter(*rules);
    EXPECT_EQ(splitter.split(pairs).size(), splitter.split("abababababab").size()) << rules->name;
    EXPECT_EQ(splitter.split(std::string(100'000, 'A')).size(), splitter.split("AAAAAAAAAA").size()) << rules->name;
  }
  const std::string line(100'000, 'x');
  EXPECT_EQ(split("gemma4", line), (Words{line}));
}

TEST(Splitter, LongRunsOfCompatPatternsFollowTheRuleToo) {
  const std::string word(200'000, 'A');
  for (const SplitRules* rules : all_rules()) {
    EXPECT_EQ(Splitter(*rules, true).split(word).size(), Splitter(*rules, true).split("AAAAAA").size()) << rules->name;
  }
}

}  // namespace
}  // namespace brisk::tokenizer
