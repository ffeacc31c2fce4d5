#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "loaded_model.hpp"
#include "test_support/paths.hpp"

// Greedy answers and first probabilities of real models against recordings of llama.cpp (golden/real/README.md).

namespace brisk::model::test {
namespace {

struct Recording {
  const char* file;
  const char* model;
  double top5_bound;  ///< mean distance of the peer's own int8 run to `exact`
};

constexpr size_t kSteps = 16;
constexpr double kNarrowMargin = 0.15;  // below it the peer's own two runs choose differently

/// Whether the ids agree up to the first step whose recorded margin is narrow.
bool agrees(const Tokens& got, const nlohmann::json& want) {
  const auto& ids = want.at("generated_tokens");
  for (size_t i = 0; i < std::min(ids.size(), kSteps); ++i) {
    if (got[i] == ids[i].get<int32_t>()) continue;
    const auto& margin = want.at("margins").at(i);
    return margin.is_null() || margin.get<double>() < kNarrowMargin;
  }
  return true;
}

double log_sum(std::span<const float> logits) {
  const double most = logits[static_cast<size_t>(argmax(logits))];
  double sum = 0.0;
  for (const float x : logits) sum += std::exp(x - most);
  return most + std::log(sum);
}

double top5_distance(std::span<const float> logits, const nlohmann::json& want) {
  const double normaliser = log_sum(logits);
  double sum = 0.0;
  for (const auto& [id, log_probability] : want.at("top5").at(0).get<std::vector<std::pair<size_t, double>>>()) {
    sum += std::abs(logits[id] - normaliser - log_probability);
  }
  return sum / 5;
}

class RealGolden : public ::testing::TestWithParam<Recording> {};

TEST_P(RealGolden, FirstTokensAndProbabilitiesAgreeWithTheRecordings) {
  const auto recording = brisk::test::shared_file(GetParam().file);
  const auto path = brisk::test::real_model(GetParam().model);
  BRISK_SKIP_WITHOUT(recording, GetParam().file);
  BRISK_SKIP_WITHOUT(path, GetParam().model);
  std::ifstream in(*recording);
  const nlohmann::json prompts = nlohmann::json::parse(in).at("prompts");
  const LoadedModel loaded(*path);
  RunnerOptions options;
  options.n_ctx = 2048;
  Runner runner = loaded.runner(options);
  double distance = 0.0;
  size_t n_compared = 0;
  for (const auto& prompt : prompts) {
    for (const char* kind : {"raw", "chat"}) {
      const auto& want = prompt.at(kind);
      const auto tokens = want.at("prompt_tokens").get<Tokens>();
      Batch batch;
      for (size_t i = 0; i < tokens.size(); ++i) {
        batch.add(tokens[i], static_cast<int32_t>(i), 0, i + 1 == tokens.size());
      }
      runner.kv().clear(0);
      ASSERT_TRUE(runner.decode(batch).ok());
      // The peer gives no probabilities for a token that ends inside a character.
      if (!want.at("exact").at("top5").at(0).is_null()) {
        distance += top5_distance(runner.logits(tokens.size() - 1), want.at("exact"));
        ++n_compared;
      }
      Tokens got{argmax(runner.logits(tokens.size() - 1))};
      while (got.size() < kSteps) {
        batch.clear();
        batch.add(got.back(), runner.kv().pos_max(0) + 1, 0, true);
        ASSERT_TRUE(runner.decode(batch).ok());
        got.push_back(argmax(runner.logits(0)));
      }
      EXPECT_TRUE(agrees(got, want.at("exact")) || agrees(got, want)) << prompt.at("id") << " " << kind;
    }
  }
  RecordProperty("top5_distance", std::to_string(distance / static_cast<double>(n_compared)));
  EXPECT_LE(distance / static_cast<double>(n_compared), GetParam().top5_bound);
}

INSTANTIATE_TEST_SUITE_P(
    All, RealGolden,
    ::testing::Values(Recording{"golden/real/smollm2.json", "SmolLM2-135M-Instruct.Q4_1.gguf", 0.087},
                      Recording{"golden/real/gemma3-270m.json", "gemma-3-270m-q4_k_m.gguf", 0.121}),
    [](const auto& test) { return std::string(test.index == 0 ? "smollm2" : "gemma3_270m"); });

}  // namespace
}  // namespace brisk::model::test
