#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "test_support/paths.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};

std::string random_bytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(HostileText, RandomBytesComeBackExactly) {
  for (const char* name : {"bpe-gpt2", "bpe-llama3", "bpe-qwen2", "spm"}) {
    const auto tokenizer = test::load_tokenizer(test::data_file(std::string("tokenizer/") + name + ".gguf"));
    const std::string prefix = tokenizer->vocab().rules().add_space_prefix ? " " : "";
    for (uint32_t seed = 0; seed < 30; ++seed) {
      const std::string text = random_bytes(700, seed);
      ASSERT_EQ(test::joined(*tokenizer, tokenizer->encode(text, kPlain)), prefix + text) << name << " seed " << seed;
    }
  }
}

TEST(HostileText, OneTokenizerServesManyThreads) {
  const auto tokenizer = test::load_tokenizer(test::data_file("tokenizer/bpe-llama3.gguf"));
  const std::string text = random_bytes(20'000, 9) + " The baker opened the door. ";
  const auto want = tokenizer->encode(text, kPlain);
  std::vector<std::vector<int32_t>> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& ids : got) threads.emplace_back([&] { ids = tokenizer->encode(text, kPlain); });
  }
  for (const auto& ids : got) EXPECT_EQ(ids, want);
}

}  // namespace
}  // namespace brisk::tokenizer
