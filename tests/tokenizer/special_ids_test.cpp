#include "tokenizer/special_ids.hpp"

#include <gtest/gtest.h>

#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;

ToyVocab bpe_with(const std::vector<std::string>& texts, Type type = Type::control) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet();
  for (const std::string& text : texts) toy.token(text, type);
  return toy;
}

TEST(SpecialIds, FirstKnownTextFillsASlot) {
  ToyVocab toy = bpe_with({"<|endoftext|>", "<|im_end|>", "<|fim_prefix|>", "<PRE>", "<|repo_name|>", "<|file_sep|>"});
  const auto tokenizer = toy.load();
  const Vocab& vocab = tokenizer->vocab();
  EXPECT_EQ(vocab.eot(), toy.find("<|im_end|>"));
  EXPECT_EQ(vocab.ids().fim_pre, toy.find("<|fim_prefix|>"));
  EXPECT_EQ(vocab.ids().fim_rep, toy.find("<|repo_name|>"));
  EXPECT_EQ(vocab.ids().fim_sep, toy.find("<|file_sep|>"));
  for (const char* text : {"<|endoftext|>", "<|im_end|>", "<|repo_name|>", "<|file_sep|>"}) {
    EXPECT_TRUE(vocab.is_eog(toy.find(text))) << text;
  }
  EXPECT_FALSE(vocab.is_eog(toy.find("<|fim_prefix|>")));
}

TEST(SpecialIds, IdOfTheFileWinsOverAText) {
  ToyVocab toy = bpe_with({"<|im_end|>", "<my_end>"});
  toy.id("eot_token_id", static_cast<uint32_t>(toy.find("<my_end>")));
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->vocab().eot(), toy.find("<my_end>"));
  EXPECT_TRUE(tokenizer->vocab().is_eog(toy.find("<my_end>")));
  EXPECT_TRUE(tokenizer->vocab().is_eog(toy.find("<|im_end|>")));
}

TEST(SpecialIds, OldInfillKeysWinOverTheNewOnes) {
  ToyVocab toy = bpe_with({});
  toy.id("fim_pre_token_id", 5).id("prefix_token_id", 6).id("middle_token_id", 8);
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->vocab().ids().fim_pre, 6);
  EXPECT_EQ(tokenizer->vocab().ids().fim_mid, 8);
}

// case 043
TEST(SpecialIds, EndTokensMarkedAsOrdinaryTextBecomeControlTokens) {
  ToyVocab toy = bpe_with({"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"}, Type::normal);
  const auto tokenizer = toy.load();
  for (const char* text : {"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"}) {
    EXPECT_TRUE(tokenizer->vocab().is_control(toy.find(text))) << text;
    EXPECT_TRUE(tokenizer->vocab().is_eog(toy.find(text))) << text;
    EXPECT_EQ(tokenizer->piece(toy.find(text)), "") << text;
    EXPECT_EQ(tokenizer->piece(toy.find(text), true), text);
    // So a stop string of that text is one token.
    EXPECT_EQ(tokenizer->encode(text, {.add_special = false, .parse_special = true}),
              (std::vector<int32_t>{toy.find(text)}));
  }
}

TEST(SpecialIds, HarmonyEndsAMessageWithEndNotTheTurn) {
  ToyVocab toy = bpe_with({"<|end|>", "<|return|>", "<|call|>", "<|channel|>", "<|start|>"});
  const auto tokenizer = toy.load();
  const Vocab& vocab = tokenizer->vocab();
  EXPECT_FALSE(vocab.is_eog(toy.find("<|end|>")));
  EXPECT_EQ(vocab.attributes(toy.find("<|end|>")), attribute::user_defined);
  EXPECT_EQ(vocab.attributes(toy.find("<|channel|>")), attribute::user_defined);
  EXPECT_TRUE(vocab.is_eog(toy.find("<|return|>")));
  EXPECT_TRUE(vocab.is_eog(toy.find("<|call|>")));
  ToyVocab phi = bpe_with({"<|end|>", "<|call|>"});
  EXPECT_TRUE(phi.load()->vocab().is_eog(phi.find("<|end|>")));
}

TEST(SpecialIds, StrikeThroughTagOfGemmaIsText) {
  ToyVocab toy = bpe_with({"</s>", "<|tool_response>"});
  const auto tokenizer = toy.load();
  EXPECT_FALSE(tokenizer->vocab().is_eog(toy.find("</s>")));
  EXPECT_EQ(tokenizer->vocab().attributes(toy.find("</s>")), attribute::normal);
  EXPECT_TRUE(tokenizer->vocab().is_eog(toy.find("<|tool_response>")));
}

TEST(SpecialIds, UnusedControlTokensAreMarked) {
  ToyVocab toy = bpe_with({"<unused7>"});
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->vocab().attributes(toy.find("<unused7>")), attribute::control | attribute::unused);
}

TEST(SpecialIds, Phi3StripsBehindAllButThree) {
  ToyVocab toy("llama");
  toy.text("general.name", "Phi-3 Mini").token("<unk>", Type::unknown).token("<s>", Type::control);
  toy.token("</s>", Type::control).token("<|endoftext|>", Type::control).token("<|user|>", Type::control).byte_tokens();
  const auto tokenizer = toy.load();
  const Vocab& vocab = tokenizer->vocab();
  EXPECT_TRUE(vocab.has(toy.find("<|user|>"), attribute::rstrip));
  EXPECT_TRUE(vocab.has(toy.find("</s>"), attribute::rstrip));
  for (const char* text : {"<unk>", "<s>", "<|endoftext|>"}) EXPECT_FALSE(vocab.has(toy.find(text), attribute::rstrip));
}

}  // namespace
}  // namespace brisk::tokenizer
