#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "test_support/paths.hpp"
#include "tokenizer/splitter.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

// bench/tokenizer measures the true rate (more than 5 MB/s everywhere). Here a machine that is busy, old or compiles
// without much optimisation has a margin of 5; a quadratic step misses the bound by orders of magnitude.
constexpr double kLeastMegabytesPerSecond = 1.0;
constexpr size_t kTextSize = 10'000'000;
constexpr size_t kPatternTextSize = 2'000'000;  // there are 35 rule sets

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlowBuild = true;
#else
constexpr bool kSlowBuild = false;
#endif

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string repeated(std::string_view part, size_t size = kTextSize) {
  std::string text;
  text.reserve(size + part.size());
  while (text.size() < size) text += part;
  return text;
}

std::string random_text(uint32_t range, char first) {
  std::mt19937 random(1);
  std::string text(kTextSize, '\0');
  for (char& c : text) c = static_cast<char>(first + static_cast<char>(random() % range));
  return text;
}

TEST(TokenizerSlow, TenMegabytesOfAnythingTakeLinearTime) {
  if (kSlowBuild) GTEST_SKIP() << "measures time, and sanitizers take most of it";
  const std::pair<const char*, std::string> texts[] = {
      {"letter", repeated("a")},      {"capital", repeated("A")},      {"space", repeated(" ")},
      {"newline", repeated("\n")},    {"blank line", repeated(" \n")}, {"digit", repeated("7")},
      {"mark", repeated("!")},        {"han", repeated("中")},         {"accents", repeated("\u0301\u0323")},
      {"special", repeated("<|im_")}, {"bytes", random_text(256, 0)},  {"letters", random_text(26, 'a')},
  };
  for (const char* name : {"bpe-llama3", "spm"}) {
    const auto tokenizer = test::load_tokenizer(test::data_file(std::string("tokenizer/") + name + ".gguf"));
    for (const auto& [kind, text] : texts) {
      const double start = processor_seconds();
      const auto ids = tokenizer->encode(text, {.add_special = false, .parse_special = true});
      const double seconds = processor_seconds() - start;
      EXPECT_GT(ids.size(), 0u);
      EXPECT_LT(seconds, static_cast<double>(kTextSize) * 1e-6 / kLeastMegabytesPerSecond) << name << ", " << kind;
    }
  }
}

TEST(SplitterSlow, EveryPatternTakesLinearTime) {
  if (kSlowBuild) GTEST_SKIP() << "measures time, and sanitizers take most of it";
  std::vector<std::string> texts;
  for (const char* part : {" ", "a", "A", "7", "\n", "! ", " a", "\n ", "\u0301", "<sentinel:1"}) {
    texts.push_back(repeated(part, kPatternTextSize));
  }
  for (const PreTokenizer& row : pre_tokenizers()) {
    if (row.name != row.rules->name && row.name != "gemma4" && row.name != "whitespace") continue;  // once a rule set
    for (const bool compat : {false, true}) {
      const Splitter splitter(*row.rules, compat);
      for (const std::string& text : texts) {
        const double start = processor_seconds();
        EXPECT_EQ(splitter.split(text).back(), text.size());
        EXPECT_LT(processor_seconds() - start, 2.0) << row.name << ' ' << text.substr(0, 12);
      }
    }
  }
}

}  // namespace
}  // namespace brisk::tokenizer
