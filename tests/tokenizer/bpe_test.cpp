#include "tokenizer/bpe.hpp"

#include <gtest/gtest.h>

#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;

constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};

std::vector<std::string> texts(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<std::string> out;
  for (const int32_t id : ids) out.emplace_back(tokenizer.vocab().text(id));
  return out;
}

TEST(Bpe, MergesByRankThenFromTheLeft) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet().tokens({"bc", "ab", "aa"}).merge("b c").merge("a b").merge("a a");
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("abc", kPlain)), (std::vector<std::string>{"a", "bc"}));
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("aaa", kPlain)), (std::vector<std::string>{"aa", "a"}));
}

TEST(Bpe, MergesDoNotCrossSegments) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet().tokens({"aĠ"}).merge("a Ġ");
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("a a", kPlain)), (std::vector<std::string>{"a", "Ġ", "a"}));
}

TEST(Bpe, LeftPartOfAMergeMayBeginWithASpace) {
  ToyVocab toy("gpt2", "gemma4");
  toy.tokens({"a", " ", " a"}).merge("  a").byte_tokens();
  EXPECT_NO_THROW(static_cast<void>(toy.load()));
}

TEST(Bpe, IgnoreMergesTakesAWholeSegmentThatIsAToken) {
  for (const auto& [pre, whole] : {std::pair{"llama-bpe", true}, std::pair{"dbrx", false}}) {
    ToyVocab toy("gpt2", pre);
    toy.byte_alphabet().tokens({"abc"});
    const auto tokenizer = toy.load();
    EXPECT_EQ(tokenizer->encode("abc", kPlain).size(), whole ? 1u : 3u) << pre;
  }
}

TEST(Bpe, ResultOfAMergeThatIsNoTokenFallsApartIntoBytes) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet().tokens({"xyz"}).merge("x y").merge("xy z");
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("xyz", kPlain)), (std::vector<std::string>{"xyz"}));
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("xyx", kPlain)), (std::vector<std::string>{"x", "y", "x"}));
}

TEST(Bpe, MissingByteIsDroppedAndAnImpossibleOneBecomesTheReplacementCharacter) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.tokens({"a", "ï", "¿", "½"});  // EF BF BD in the byte alphabet
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("ab", kPlain)), (std::vector<std::string>{"a"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a\xFF", kPlain)), "a\uFFFD");
}

TEST(Bpe, AddsBosAndEosAsTheVocabularySays) {
  ToyVocab toy("gpt2", "llama-bpe");
  toy.byte_alphabet().token("<s>", Type::control).token("<e>", Type::control);
  const auto bos = static_cast<uint32_t>(toy.find("<s>"));
  toy.id("bos_token_id", bos).id("eos_token_id", bos + 1).flag("add_eos_token", true);
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("a")), (std::vector<std::string>{"<s>", "a", "<e>"}));
  EXPECT_EQ(texts(*tokenizer, tokenizer->encode("")), (std::vector<std::string>{"<s>", "<e>"}));
  EXPECT_EQ(tokenizer->encode("", kPlain), std::vector<int32_t>{});
}

TEST(Bpe, NormalisesForFamiliesThatDoAndNotInCompatMode) {
  ToyVocab toy("gpt2", "qwen2");
  toy.byte_alphabet();
  for (int i = 0; i < 66'000; ++i) toy.token("filler" + std::to_string(i));  // published vocabularies are large
  const auto tokenizer = toy.load();
  const auto compat = toy.load({.llama_cpp_compat = true});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("e\u0301", kPlain)), "\u00E9");
  EXPECT_EQ(compat->decode(compat->encode("e\u0301", kPlain)), "e\u0301");
}

TEST(Bpe, NewlineTokenIsFound) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet();
  EXPECT_EQ(toy.load()->vocab().nl(), toy.find("Ċ"));
}

}  // namespace
}  // namespace brisk::tokenizer
