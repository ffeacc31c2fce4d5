#include <gtest/gtest.h>

#include "tokenizer/stream_decoder.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;

ToyVocab spm() {
  ToyVocab toy("llama");
  toy.token("<unk>", Type::unknown).token("<s>", Type::control).token("</s>", Type::control).byte_tokens();
  toy.token("▁")
      .token("▁Hello")
      .token("▁world")
      .token("x▁y")
      .token("hidden", Type::unused)
      .token("<t>", Type::user_defined);
  return toy;
}

TEST(Decode, LeadingSpaceGoesUnlessBosWasRemoved) {
  ToyVocab toy = spm();
  const auto tokenizer = toy.load();
  const int32_t hello = toy.find("▁Hello");
  const int32_t world = toy.find("▁world");
  EXPECT_EQ(tokenizer->decode(std::vector{hello, world}), "Hello world");
  EXPECT_EQ(tokenizer->decode(std::vector{1, hello}), " Hello");
  EXPECT_EQ(tokenizer->decode(std::vector{1, hello}, {.remove_special = true}), " Hello");
  EXPECT_EQ(tokenizer->decode(std::vector{1, hello}, {.unparse_special = true}), "<s> Hello");
}

TEST(Decode, EosIsRemovedOnlyWhenTheVocabularyAddsIt) {
  ToyVocab toy = spm();
  EXPECT_EQ(toy.load()->decode(std::vector{2}, {.remove_special = true, .unparse_special = true}), "</s>");
  toy.flag("add_eos_token", true);
  EXPECT_EQ(toy.load()->decode(std::vector{2}, {.remove_special = true, .unparse_special = true}), "");
}

TEST(Decode, PiecesByType) {
  ToyVocab toy = spm();
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->piece(toy.find("<0x41>")), "A");
  EXPECT_EQ(tokenizer->piece(toy.find("x▁y")), "x y");
  EXPECT_EQ(tokenizer->piece(toy.find("hidden")), "");
  EXPECT_EQ(tokenizer->piece(toy.find("<t>")), "<t>");
  EXPECT_EQ(tokenizer->piece(0), "");
  EXPECT_EQ(tokenizer->piece(0, true), "<unk>");
  EXPECT_EQ(tokenizer->piece(-1), "");
  EXPECT_EQ(tokenizer->piece(100'000), "");
}

TEST(Decode, BpePiecesAreBytesAndStrangeTextsSaySo) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet().token("Ġthe").token("日");
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->piece(toy.find("Ġthe")), " the");
  EXPECT_EQ(tokenizer->piece(toy.find("日")), "[UNK_BYTE_0xe697a5日]");
}

TEST(Decode, CleansSpacesForVocabulariesThatWantIt) {
  const std::string text = "Hi , it 's me ! ' x we 've can 't .";
  for (const auto& [pre, want] :
       {std::pair{"gpt-2", "Hi, it's me!'x we've can 't."}, std::pair{"qwen2", text.c_str()}}) {
    ToyVocab toy("gpt2", pre);
    toy.byte_alphabet();
    const auto tokenizer = toy.load();
    const auto ids = tokenizer->encode(text, {.add_special = false});
    EXPECT_EQ(tokenizer->decode(ids), want);
    EXPECT_EQ(test::joined(*tokenizer, ids), text);
  }
}

TEST(StreamDecoder, HoldsCharactersBackUntilTheyAreComplete) {
  ToyVocab toy = spm();
  const auto tokenizer = toy.load();
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(decoder.push(toy.find("▁Hello")), " Hello");
  EXPECT_EQ(decoder.push(toy.find("<0xF0>")), "");
  EXPECT_EQ(decoder.push(toy.find("<0x9F>")), "");
  EXPECT_TRUE(decoder.has_pending());
  EXPECT_EQ(decoder.push(toy.find("<0x98>")), "");
  EXPECT_EQ(decoder.push(toy.find("<0x80>")), "😀");
  EXPECT_EQ(decoder.push(toy.find("<0xE2>")), "");
  EXPECT_EQ(decoder.push(toy.find("▁world")), "\xE2 world");  // that character can no longer be completed
  EXPECT_EQ(decoder.push(toy.find("<0xC3>")), "");
  EXPECT_EQ(decoder.flush(), "\xC3");
  EXPECT_FALSE(decoder.has_pending());
  EXPECT_EQ(decoder.push(1), "");
  EXPECT_EQ(StreamDecoder(*tokenizer, true).push(1), "<s>");
}

}  // namespace
}  // namespace brisk::tokenizer
