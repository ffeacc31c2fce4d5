#include "tokenizer/vocab.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using test::ToyVocab;
using test::Type;

template <typename Action>
std::string error_of(Action&& action, ErrorCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Vocab, SpmDefaults) {
  ToyVocab toy("llama");
  toy.token("<unk>", Type::unknown).token("<s>", Type::control).token("</s>", Type::control).byte_tokens();
  const auto tokenizer = toy.load();
  const Vocab& vocab = tokenizer->vocab();
  EXPECT_EQ(vocab.bos(), 1);
  EXPECT_EQ(vocab.eos(), 2);
  EXPECT_EQ(vocab.unk(), 0);
  EXPECT_EQ(vocab.sep(), kNoToken);
  EXPECT_EQ(vocab.nl(), toy.find("<0x0A>"));
  EXPECT_TRUE(vocab.add_bos());
  EXPECT_FALSE(vocab.add_eos());
  EXPECT_TRUE(vocab.rules().add_space_prefix);
  EXPECT_TRUE(vocab.is_eog(2));
  EXPECT_FALSE(vocab.is_eog(1));
  EXPECT_TRUE(vocab.is_control(1));
  EXPECT_FALSE(vocab.is_control(-1));
  EXPECT_FALSE(vocab.is_eog(1 << 20));
}

TEST(Vocab, BpeKeepsItsDefaultIdWhenTheFileNamesNone) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet();
  EXPECT_EQ(toy.load()->vocab().bos(), 11);
  ToyVocab glm("gpt2", "glm4");
  glm.byte_alphabet();
  EXPECT_EQ(glm.load()->vocab().bos(), kNoToken);
}

TEST(Vocab, IdsOfTheFileWinAndImpossibleOnesAreIgnoredWithAWarning) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.byte_alphabet().id("bos_token_id", 7).id("eos_token_id", 99999).id("seperator_token_id", 3);
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->vocab().bos(), 7);
  EXPECT_EQ(tokenizer->vocab().eos(), 11);
  EXPECT_EQ(tokenizer->vocab().sep(), 3);
  ASSERT_FALSE(tokenizer->vocab().warnings().empty());
  EXPECT_NE(tokenizer->vocab().warnings()[0].find("99999"), std::string::npos);
}

TEST(Vocab, DefaultIdsOutsideOfASmallVocabularyAreNone) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.tokens({"a", "b"});
  EXPECT_EQ(toy.load()->vocab().bos(), kNoToken);
}

TEST(Vocab, FlagsOfTheFileOverrideTheKindsRules) {
  ToyVocab toy("llama");
  toy.token("<unk>", Type::unknown).token("<s>", Type::control).token("</s>", Type::control).byte_tokens();
  toy.flag("add_bos_token", false).flag("add_eos_token", true).flag("add_space_prefix", false);
  const auto tokenizer = toy.load();
  EXPECT_FALSE(tokenizer->vocab().add_bos());
  EXPECT_FALSE(tokenizer->vocab().rules().add_space_prefix);
  EXPECT_EQ(tokenizer->encode("A"), (std::vector<int32_t>{toy.find("<0x41>"), 2}));
}

TEST(Vocab, Gemma4AlwaysAddsBos) {
  ToyVocab toy("gemma4");
  toy.token("<bos>", Type::control).byte_tokens().id("bos_token_id", 0).flag("add_bos_token", false);
  const auto tokenizer = toy.load();
  EXPECT_TRUE(tokenizer->vocab().add_bos());
  EXPECT_FALSE(tokenizer->vocab().warnings().empty());
}

TEST(Vocab, EmptyTextsGetANameAndTwinsAreRefused) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.tokens({"a", "", "b", ""});
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->vocab().text(1), "[EMPTY_1]");
  EXPECT_EQ(tokenizer->vocab().text(3), "[EMPTY_3]");
  ToyVocab twins("gpt2", "gpt-2");
  twins.tokens({"a", "b", "a"});
  EXPECT_EQ(error_of([&] { static_cast<void>(twins.load()); }, ErrorCode::corrupt),
            "toy.gguf: tokens 0 and 2 have the same text 'a'");
}

TEST(Vocab, ErrorsNameTheFileAndTheKey) {
  gguf::Metadata empty("m.gguf");
  EXPECT_EQ(error_of([&] { Tokenizer::load(empty); }, ErrorCode::corrupt),
            "m.gguf: key tokenizer.ggml.model is missing; the file has no tokenizer");
  ToyVocab strange("gpt9");
  EXPECT_EQ(error_of([&] { static_cast<void>(strange.load()); }, ErrorCode::unsupported),
            "toy.gguf: unknown tokenizer.ggml.model 'gpt9'");
  ToyVocab pre("gpt2", "nobody");
  pre.tokens({"a"});
  EXPECT_EQ(error_of([&] { static_cast<void>(pre.load()); }, ErrorCode::unsupported),
            "toy.gguf: unknown pre-tokenizer 'nobody' (tokenizer.ggml.pre)");
  gguf::Metadata no_merges("m.gguf");
  no_merges.set_string("tokenizer.ggml.model", "gpt2");
  no_merges.set_strings("tokenizer.ggml.tokens", {"a"});
  EXPECT_EQ(error_of([&] { Tokenizer::load(no_merges); }, ErrorCode::corrupt),
            "m.gguf: key tokenizer.ggml.merges is missing; byte-pair encoding needs it");
  no_merges.set_string("tokenizer.ggml.pre", "kimi-k2");
  EXPECT_EQ(Tokenizer::load(no_merges)->encode("a", {.add_special = false}), (std::vector<int32_t>{0}));
}

TEST(Vocab, WrongShapesAreRefused) {
  const auto base = [] {
    gguf::Metadata metadata("m.gguf");
    metadata.set_string("tokenizer.ggml.model", "llama");
    metadata.set_strings("tokenizer.ggml.tokens", {"a", "b"});
    return metadata;
  };
  const float score = 1;
  gguf::Metadata short_scores = base();
  short_scores.set_numbers("tokenizer.ggml.scores", gguf::ValueType::f32, std::as_bytes(std::span(&score, 1)));
  EXPECT_EQ(error_of([&] { Tokenizer::load(short_scores); }, ErrorCode::corrupt),
            "m.gguf: tokenizer.ggml.scores has 1 entries for 2 tokens");
  gguf::Metadata text_for_array = base();
  text_for_array.set_string("tokenizer.ggml.tokens", "a");
  error_of([&] { Tokenizer::load(text_for_array); }, ErrorCode::corrupt);
  gguf::Metadata numbers = base();
  numbers.set_numbers("tokenizer.ggml.tokens", gguf::ValueType::f32, std::as_bytes(std::span(&score, 1)));
  error_of([&] { Tokenizer::load(numbers); }, ErrorCode::corrupt);
  gguf::Metadata texts = base();
  texts.set_strings("tokenizer.ggml.token_type", {"a", "b"});
  error_of([&] { Tokenizer::load(texts); }, ErrorCode::corrupt);
  ToyVocab merges("gpt2", "gpt-2");
  merges.tokens({"a", "b", "ab"}).merge("ab");
  EXPECT_EQ(error_of([&] { static_cast<void>(merges.load()); }, ErrorCode::corrupt),
            "toy.gguf: tokenizer.ggml.merges number 0 is 'ab', without a space between two parts");
}

TEST(Vocab, KindsThatCannotRunYetSaySo) {
  for (const std::string_view model : {"bert", "t5", "rwkv", "plamo2", "test", "none"}) {
    ToyVocab toy(model);
    toy.tokens({"a"});
    const std::string message = error_of([&] { static_cast<void>(toy.load()); }, ErrorCode::unsupported);
    EXPECT_NE(message.find("cannot run a"), std::string::npos) << message;
    EXPECT_NE(message.find(std::string(find_kind(model)->title)), std::string::npos) << message;
  }
}

TEST(Vocab, MissingPreTokenizerIsAWarning) {
  ToyVocab toy("gpt2");
  toy.byte_alphabet();
  const auto tokenizer = toy.load();
  EXPECT_EQ(tokenizer->vocab().pre()->name, "default");
  ASSERT_FALSE(tokenizer->vocab().warnings().empty());
  EXPECT_NE(tokenizer->vocab().warnings()[0].find("tokenizer.ggml.pre"), std::string::npos);
}

TEST(Vocab, SuppressedTokensInRangeAreKept) {
  ToyVocab toy("gpt2", "gpt-2");
  toy.tokens({"a", "b"});
  gguf::Metadata metadata = gguf::Metadata("m.gguf");
  metadata.set_string("tokenizer.ggml.model", "llama");
  metadata.set_strings("tokenizer.ggml.tokens", {"a", "b"});
  const int32_t ids[] = {1, 5, -1};
  metadata.set_numbers("tokenizer.ggml.suppress_tokens", gguf::ValueType::i32, std::as_bytes(std::span(ids)));
  EXPECT_EQ(Tokenizer::load(metadata)->vocab().suppressed(), (std::vector<int32_t>{1}));
}

}  // namespace
}  // namespace brisk::tokenizer
