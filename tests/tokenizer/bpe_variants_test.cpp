#include <gtest/gtest.h>

#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;

constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};

std::vector<std::string> texts(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> out;
  for (const int32_t id : tokenizer.encode(text, kPlain)) out.emplace_back(tokenizer.vocab().text(id));
  return out;
}

using Texts = std::vector<std::string>;

TEST(Gemma4Bpe, SpacesAreBlanksAndUnknownCharactersBytes) {
  ToyVocab toy("gemma4");
  toy.byte_tokens().tokens({"▁", "a", "▁a", "\n\n\n"}).merge("▁ a");
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, "a a"), (Texts{"a", "▁a"}));
  EXPECT_EQ(texts(*tokenizer, "\n\n\na"), (Texts{"\n\n\n", "a"}));  // whole, though no merge makes it
  EXPECT_EQ(texts(*tokenizer, "é"), (Texts{"<0xC3>", "<0xA9>"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a a\xFF", kPlain)), "a a\xFF");
}

TEST(WhitespaceBpe, DropsBlanksAndLowersCaseWhenTold) {
  ToyVocab toy("whitespace");
  toy.tokens({"a", "b", "é", "ab"}).merge("a b").flag("normalizer.lowercase", true);
  EXPECT_EQ(texts(*toy.load(), " AB\t\u3000É\n"), (Texts{"ab", "é"}));
  ToyVocab keeps("whitespace");
  keeps.tokens({"a", "A"});
  EXPECT_EQ(texts(*keeps.load(), "a A"), (Texts{"a", "A"}));
}

ToyVocab dna() {
  ToyVocab toy("hybriddna", "gpt-2");
  toy.byte_alphabet().token("<dna>").token("</dna>").token("<oov>").token("ACGTAC\uE000").token("GTAAAA\uE000");
  return toy;
}

TEST(DnaBpe, CutsSequencesIntoSixMers) {
  ToyVocab toy = dna();
  const auto tokenizer = toy.load();
  EXPECT_EQ(texts(*tokenizer, "x<dna>acgtacGT</dna>y"),
            (Texts{"x", "<dna>", "ACGTAC\uE000", "GTAAAA\uE000", "</dna>", "y"}));
  EXPECT_EQ(texts(*tokenizer, "<dna>NNNNNN"), (Texts{"<dna>", "<oov>"}));
  EXPECT_EQ(tokenizer->piece(toy.find("ACGTAC\uE000")), "ACGTAC");
}

TEST(DnaBpe, WithoutItsTokensItIsPlainBpe) {
  ToyVocab toy("hybriddna", "gpt-2");
  toy.byte_alphabet();
  EXPECT_EQ(texts(*toy.load(), "<dna>A").size(), 6u);
}

}  // namespace
}  // namespace brisk::tokenizer
