#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "loaded_model.hpp"
#include "test_support/paths.hpp"

// Logits and greedy continuations against Hugging Face's models (golden/README.md says how they were made).

namespace brisk::model::test {
namespace {

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

class ArchGolden : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto path = brisk::test::shared_file(std::string("golden/arch/") + GetParam() + "/model.gguf");
    BRISK_SKIP_WITHOUT(path, GetParam());
    folder_ = path->parent_path();
    loaded_ = std::make_unique<LoadedModel>(*path);
    sequences_ = read_sequences(folder_ / "tokens.json");
    tolerance_ = read_json(folder_ / "meta.json").at("tolerance");
  }
  std::filesystem::path folder_;
  std::unique_ptr<LoadedModel> loaded_;
  std::vector<Tokens> sequences_;
  float tolerance_ = 0.0f;
};

TEST_P(ArchGolden, LogitsOfAllPositionsAreWithinTolerance) {
  const std::vector<float> want = brisk::test::read_f32(folder_ / "logits.f32");
  const auto n_vocab = static_cast<size_t>(loaded_->model->params().n_vocab);
  size_t row = 0;
  for (const Tokens& tokens : sequences_) {
    Runner runner = loaded_->runner(exact_options());
    const std::vector<float> got = logits_of(runner, 0, tokens);
    const auto part = std::span(want).subspan(row * n_vocab, tokens.size() * n_vocab);
    EXPECT_LE(max_difference(got, part), tolerance_) << tokens.size() << " tokens";
    row += tokens.size();
  }
  EXPECT_EQ(row * n_vocab, want.size());
}

TEST_P(ArchGolden, GreedyContinuationIsEqual) {
  const nlohmann::json greedy = read_json(folder_ / "greedy.json").at("sequences");
  ASSERT_EQ(greedy.size(), sequences_.size());
  for (size_t s = 0; s < sequences_.size(); ++s) {
    Runner runner = loaded_->runner(exact_options());
    const std::vector<float> prompt = logits_of(runner, 0, sequences_[s]);
    const auto n_vocab = static_cast<size_t>(loaded_->model->params().n_vocab);
    int32_t token = argmax(std::span(prompt).last(n_vocab));
    for (const auto& step : greedy[s]) {
      // Where the two best are closer than the tolerance, either is right and the texts part ways.
      if (token != step.at("id") && step.at("margin") < tolerance_) break;
      ASSERT_EQ(token, step.at("id")) << "sequence " << s;
      token = argmax(logits_of(runner, 0, std::span(&token, 1)));
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ArchGolden,
                         ::testing::Values("llama", "llama3-rope", "mistral", "mixtral", "qwen2", "qwen2moe", "qwen3",
                                           "qwen3moe", "gemma2", "gemma3", "phi3", "gpt2", "smollm3", "olmo2"),
                         test_name);

class TypeGolden : public ::testing::TestWithParam<const char*> {};

// 0.075: what int8 activations in blocks of 32 may cost (golden/types/README.md); float weights have no such error.
TEST_P(TypeGolden, LogitsAreNearThoseOfTheExpandedWeights) {
  const std::string name = GetParam();
  const auto path = brisk::test::shared_file("golden/types/" + name + ".gguf");
  const auto tokens = brisk::test::shared_file("golden/arch/llama/tokens.json");
  BRISK_SKIP_WITHOUT(path, name);
  BRISK_SKIP_WITHOUT(tokens, "golden/arch/llama/tokens.json");
  const LoadedModel loaded(*path);
  std::vector<float> got;
  for (const Tokens& sequence : read_sequences(*tokens)) {
    Runner runner = loaded.runner(exact_options());
    const std::vector<float> rows = logits_of(runner, 0, sequence);
    got.insert(got.end(), rows.begin(), rows.end());
  }
  const std::vector<float> want = brisk::test::read_f32(path->parent_path() / (name + ".exact.f32"));
  const bool exact = name == "f16" || name == "bf16";
  const double rms = rms_difference(got, want);
  RecordProperty("rms", std::to_string(rms));
  EXPECT_LE(rms, exact ? 1e-4 : 0.075);
}

INSTANTIATE_TEST_SUITE_P(All, TypeGolden,
                         ::testing::Values("bf16", "f16", "iq1_m", "iq1_s", "iq2_s", "iq2_xs", "iq2_xxs", "iq3_s",
                                           "iq3_xxs", "iq4_nl", "iq4_xs", "q2_k", "q3_k", "q4_0", "q4_1", "q4_k",
                                           "q4_k_m", "q5_0", "q5_1", "q5_k", "q6_k", "q8_0", "tq1_0", "tq2_0"),
                         test_name);

}  // namespace
}  // namespace brisk::model::test
