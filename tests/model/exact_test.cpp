#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "loaded_model.hpp"
#include "test_support/paths.hpp"

// The promise of the runner: a token's logits depend on the tokens before it and on nothing else, to the last bit.

namespace brisk::model::test {
namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// A file, and how many tokens of it a test can afford.
struct Subject {
  const char* path;
  int n_tokens;
};

std::optional<std::filesystem::path> find(const Subject& subject) {
  const std::string_view path = subject.path;
  return path.starts_with("golden/") ? brisk::test::shared_file(path) : brisk::test::real_model(path);
}

Tokens some_tokens(int n, int32_t n_vocab) {
  Tokens tokens;
  uint32_t state = 12345;  // a linear congruential generator: any fixed text will do
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    tokens.push_back(static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(n_vocab)));
  }
  return tokens;
}

RunnerOptions options_for(int n_threads = 1, int32_t n_seq_max = 1) {
  RunnerOptions options = exact_options(n_seq_max);
  options.n_ctx = 1024;
  options.type_k = options.type_v = DType::f16;
  options.threads.n_threads = n_threads;
  return options;
}

class LogitsExact : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    path_ = find(GetParam());
    BRISK_SKIP_WITHOUT(path_, GetParam().path);
    loaded_ = std::make_unique<LoadedModel>(*path_);
    tokens_ = some_tokens(GetParam().n_tokens, loaded_->model->params().n_vocab);
    Runner runner = loaded_->runner(options_for());
    const int32_t whole[] = {512};
    want_ = logits_of(runner, 0, tokens_, whole);
  }
  std::optional<std::filesystem::path> path_;
  std::unique_ptr<LoadedModel> loaded_;
  Tokens tokens_;
  std::vector<float> want_;
};

TEST_P(LogitsExact, DoNotDependOnTheChunks) {
  const std::vector<std::vector<int32_t>> splits = {{1}, {2}, {7}, {32}, {3, 1, 5}, {31, 33, 1, 64}};
  for (const auto& split : splits) {
    Runner runner = loaded_->runner(options_for());
    EXPECT_TRUE(same_bits(logits_of(runner, 0, tokens_, split), want_)) << "chunks of " << split[0];
  }
  RunnerOptions small = options_for();
  small.n_ubatch = 5;
  Runner runner = loaded_->runner(small);
  EXPECT_TRUE(same_bits(logits_of(runner, 0, tokens_), want_)) << "runs of 5";
}

TEST_P(LogitsExact, DoNotDependOnThreads) {
  for (const int n_threads : {2, 3, 8}) {
    Runner runner = loaded_->runner(options_for(n_threads));
    const int32_t split[] = {tokens_.size() > 8 ? static_cast<int32_t>(tokens_.size()) - 3 : 1, 1};
    EXPECT_TRUE(same_bits(logits_of(runner, 0, tokens_, split), want_)) << n_threads << " threads";
  }
}

TEST_P(LogitsExact, DoNotDependOnTheInstructionSet) {
  for (const std::string& isa : supported_isas()) {
    const LoadedModel other(*path_, isa);
    Runner runner = other.runner(options_for());
    const int32_t split[] = {static_cast<int32_t>(tokens_.size()) - 1, 1};
    EXPECT_TRUE(same_bits(logits_of(runner, 0, tokens_, split), want_)) << isa;
  }
}

TEST_P(LogitsExact, DoNotDependOnRepacking) {
  const LoadedModel other(*path_, {}, /*repack=*/false);
  Runner runner = other.runner(options_for());
  EXPECT_TRUE(same_bits(logits_of(runner, 0, tokens_), want_));
}

TEST_P(LogitsExact, DoNotDependOnOtherSequences) {
  Runner runner = loaded_->runner(options_for(2, 4));
  const Tokens others = some_tokens(2 * GetParam().n_tokens, loaded_->model->params().n_vocab);
  const auto n_vocab = static_cast<size_t>(loaded_->model->params().n_vocab);
  const int32_t chunk = 5;
  Batch batch;
  for (int32_t begin = 0; begin < static_cast<int32_t>(tokens_.size()); begin += chunk) {
    const int32_t end = std::min(begin + chunk, static_cast<int32_t>(tokens_.size()));
    batch.clear();
    for (int32_t i = begin; i < end; ++i) {
      // Interleaved with two sequences that go at another speed, one of which wants no logits.
      batch.add(others[static_cast<size_t>(i)], i, 0, false);
      batch.add(tokens_[static_cast<size_t>(i)], i, 2, true);
      if (i % 2 == 0) batch.add(others[static_cast<size_t>(i / 2)], i / 2, 3, true);
    }
    ASSERT_TRUE(runner.decode(batch).ok());
    for (size_t i = 0, at = static_cast<size_t>(begin); i < batch.size(); ++i) {
      if (batch.sequences[i] != 2) continue;
      EXPECT_TRUE(same_bits(runner.logits(i), std::span(want_).subspan(at * n_vocab, n_vocab))) << at;
      ++at;
    }
  }
}

TEST_P(LogitsExact, DoNotDependOnWhetherAPrefixWasSharedOrComputed) {
  Runner runner = loaded_->runner(options_for(1, 3));
  const auto n_vocab = static_cast<size_t>(loaded_->model->params().n_vocab);
  static_cast<void>(logits_of(runner, 0, tokens_));
  // The donor goes on first, so that its partial page is copied on write by one side and then by the other.
  const auto n_tokens = static_cast<int32_t>(tokens_.size());
  for (const int32_t n : {1, n_tokens / 2, n_tokens - 1}) {
    ASSERT_TRUE(runner.kv().copy(0, 1, 0, n));
    ASSERT_TRUE(runner.kv().copy(1, 2, 0, -1));
    const auto rest = std::span(tokens_).subspan(static_cast<size_t>(n));
    const auto want = std::span(want_).subspan(static_cast<size_t>(n) * n_vocab);
    EXPECT_TRUE(same_bits(logits_of(runner, 1, rest), want)) << "prefix of " << n;
    const int32_t ones[] = {1};
    EXPECT_TRUE(same_bits(logits_of(runner, 2, rest, ones), want)) << "prefix of " << n << ", second owner";
    runner.kv().clear(1);
    runner.kv().clear(2);
  }
}

TEST_P(LogitsExact, DoNotDependOnTokensThatWereTakenBack) {
  Runner runner = loaded_->runner(options_for());
  const auto n_vocab = static_cast<size_t>(loaded_->model->params().n_vocab);
  const size_t half = tokens_.size() / 2;
  static_cast<void>(logits_of(runner, 0, std::span(tokens_).first(half)));
  const Tokens drafted = some_tokens(9, 100);
  static_cast<void>(logits_of(runner, 0, drafted));
  ASSERT_TRUE(runner.kv().remove(0, static_cast<int32_t>(half), -1));
  const auto want = std::span(want_).subspan(half * n_vocab);
  EXPECT_TRUE(same_bits(logits_of(runner, 0, std::span(tokens_).subspan(half)), want));
}

std::string subject_name(const ::testing::TestParamInfo<Subject>& info) {
  std::string name = std::filesystem::path(info.param.path).parent_path().filename().string() + "_" +
                     std::filesystem::path(info.param.path).stem().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

// 150 tokens cross two pages of KV and, in mistral and gemma3, several windows.
INSTANTIATE_TEST_SUITE_P(
    All, LogitsExact,
    ::testing::Values(Subject{"golden/arch/llama3-rope/model.gguf", 150},
                      Subject{"golden/arch/mistral/model.gguf", 150}, Subject{"golden/arch/mixtral/model.gguf", 150},
                      Subject{"golden/arch/qwen2moe/model.gguf", 150}, Subject{"golden/arch/gemma2/model.gguf", 150},
                      Subject{"golden/arch/gemma3/model.gguf", 150}, Subject{"golden/arch/gpt2/model.gguf", 120},
                      Subject{"golden/types/f16.gguf", 70}, Subject{"golden/types/bf16.gguf", 70},
                      Subject{"golden/types/iq1_m.gguf", 40}, Subject{"golden/types/iq1_s.gguf", 40},
                      Subject{"golden/types/iq2_s.gguf", 40}, Subject{"golden/types/iq2_xs.gguf", 40},
                      Subject{"golden/types/iq2_xxs.gguf", 40}, Subject{"golden/types/iq3_s.gguf", 40},
                      Subject{"golden/types/iq3_xxs.gguf", 40}, Subject{"golden/types/iq4_nl.gguf", 70},
                      Subject{"golden/types/iq4_xs.gguf", 70}, Subject{"golden/types/q2_k.gguf", 70},
                      Subject{"golden/types/q3_k.gguf", 70}, Subject{"golden/types/q4_0.gguf", 70},
                      Subject{"golden/types/q4_1.gguf", 70}, Subject{"golden/types/q4_k.gguf", 70},
                      Subject{"golden/types/q4_k_m.gguf", 70}, Subject{"golden/types/q5_0.gguf", 70},
                      Subject{"golden/types/q5_1.gguf", 70}, Subject{"golden/types/q5_k.gguf", 70},
                      Subject{"golden/types/q6_k.gguf", 70}, Subject{"golden/types/q8_0.gguf", 70},
                      Subject{"golden/types/tq1_0.gguf", 40}, Subject{"golden/types/tq2_0.gguf", 40},
                      Subject{"SmolLM2-135M-Instruct.Q4_1.gguf", 40}, Subject{"gemma-3-270m-q4_k_m.gguf", 12}),
    subject_name);

}  // namespace
}  // namespace brisk::model::test
