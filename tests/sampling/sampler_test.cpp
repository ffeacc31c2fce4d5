#include "sampling/sampler.hpp"

#include "base/error.hpp"
#include "sampling/sampler_list.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace brisk::sampling {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Params plain(float temperature) {
  Params params;
  params.temperature = temperature;
  params.seed = 1;
  return params;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Rng, FirstOutputsOfSeed42) {
  // The Mersenne Twister's published stream for this seed.
  Rng rng(42);
  EXPECT_EQ(rng.next(), 1608637542U);
  EXPECT_EQ(rng.next(), 3421126067U);
  Rng again(42);
  EXPECT_DOUBLE_EQ(again.uniform(), (1608637542.0 + 3421126067.0 * 4294967296.0) / 18446744073709551616.0);
}

TEST(Sampler, GreedyTakesTheLowestIdOfEqualLogits) {
  Sampler sampler(plain(0.0F), 5);
  const std::vector<float> logits{1, 3, 2, 3, 3};
  EXPECT_EQ(sampler.sample(logits), 1);
}

TEST(Sampler, GreedyIgnoresLogitsThatAreNoNumbers) {
  Sampler sampler(plain(0.0F), 3);
  const std::vector<float> logits{std::nanf(""), 1, 2};
  EXPECT_EQ(sampler.sample(logits), 2);
}

TEST(Sampler, SameSeedSameTokens) {
  std::vector<float> logits(100);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>((i * 37) % 11);
  Sampler a(plain(1.0F), 100);
  Sampler b(plain(1.0F), 100);
  std::vector<int32_t> first;
  for (int i = 0; i < 32; ++i) {
    first.push_back(a.sample(logits));
    EXPECT_EQ(first.back(), b.sample(logits));
  }
  a.reset();
  for (const int32_t token : first) EXPECT_EQ(a.sample(logits), token);
}

TEST(Sampler, FrequenciesFollowTheSoftmax) {
  Params params = plain(1.0F);
  params.top_k = 0;
  params.top_p = 1.0F;
  params.min_p = 0.0F;
  Sampler sampler(params, 3);
  const std::vector<float> logits{std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  std::map<int32_t, int> counts;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) ++counts[sampler.sample(logits)];
  // Four standard deviations of a binomial count: 4 * sqrt(0.25 / 20000) = 0.014.
  EXPECT_NEAR(counts[0] / static_cast<double>(kDraws), 0.5, 0.014);
  EXPECT_NEAR(counts[1] / static_cast<double>(kDraws), 0.3, 0.014);
  EXPECT_NEAR(counts[2] / static_cast<double>(kDraws), 0.2, 0.014);
}

TEST(Sampler, MaskLeavesOnlyAllowedTokens) {
  const std::vector<float> logits(70, 1.0F);
  const std::vector<uint32_t> allowed{0, 1U << 5, 1U << 2};
  for (const float temperature : {0.0F, 1.0F}) {
    Sampler sampler(plain(temperature), 70);
    for (int i = 0; i < 20; ++i) {
      const int32_t token = sampler.sample(logits, allowed);
      EXPECT_TRUE(token == 37 || token == 66) << token;
    }
  }
}

TEST(Sampler, AnEmptyMaskIsSaid) {
  const std::vector<float> logits(40, 1.0F);
  const std::vector<uint32_t> none{0, 0};
  Sampler sampler(plain(1.0F), 40);
  EXPECT_EQ(sampler.sample(logits, none), kNoToken);
}

TEST(Sampler, BiasBansAndForces) {
  Params params = plain(0.0F);
  params.logit_bias = {{1, -kInfinity}, {0, 2.0F}, {0, 2.0F}};
  Sampler sampler(params, 3);
  EXPECT_EQ(sampler.sample(std::vector<float>{0, 9, 3}), 0);  // both entries count: 4 > 3
  params.logit_bias.pop_back();
  Sampler once(params, 3);
  EXPECT_EQ(once.sample(std::vector<float>{0, 9, 3}), 2);
}

TEST(Sampler, BiasOnATokenOutsideTheMaskOrVocabularyIsHarmless) {
  Params params = plain(0.0F);
  params.logit_bias = {{2, 100.0F}, {-5, 1.0F}, {99, 1.0F}};
  Sampler sampler(params, 3);
  const std::vector<uint32_t> allowed{0b011};
  EXPECT_EQ(sampler.sample(std::vector<float>{0, 1, 2}, allowed), 1);
}

TEST(Sampler, PenaltyWindowForgetsOldTokens) {
  Params params = plain(0.0F);
  params.repeat_penalty = 2.0F;
  params.repeat_last_n = 2;
  Sampler sampler(params, 3);
  const std::vector<float> logits{4, 3, 1};
  EXPECT_EQ(sampler.sample(logits), 0);
  sampler.accept(0);
  EXPECT_EQ(sampler.sample(logits), 1);  // 4 / 2 < 3
  sampler.accept(2);
  EXPECT_EQ(sampler.sample(logits), 1);
  sampler.accept(2);  // pushes the 0 out of the window
  EXPECT_EQ(sampler.sample(logits), 0);
  sampler.accept(0);
  sampler.reset();
  EXPECT_EQ(sampler.sample(logits), 0);
}

TEST(Sampler, AllImpossibleStillGivesAToken) {
  Sampler sampler(plain(1.0F), 3);
  const int32_t token = sampler.sample(std::vector<float>{-kInfinity, -kInfinity, -kInfinity});
  EXPECT_GE(token, 0);
  EXPECT_LT(token, 3);
}

TEST(Sampler, ImpossibleTokenIsNeverDrawn) {
  Params params = plain(1.0F);
  params.top_k = 0;
  params.min_p = 0.0F;
  params.top_p = 1.0F;
  Sampler sampler(params, 3);
  const std::vector<float> logits{-kInfinity, 0, -kInfinity};
  for (int i = 0; i < 50; ++i) EXPECT_EQ(sampler.sample(logits), 1);
}

TEST(Sampler, RandomSeedIsReported) {
  Params params;
  Sampler a(params, 4);
  Params again = params;
  again.seed = a.seed();
  Sampler b(again, 4);
  EXPECT_EQ(a.seed(), b.seed());
  const std::vector<float> logits{1, 1, 1, 1};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.sample(logits), b.sample(logits));
}

TEST(Sampler, MinKeepHoldsCandidates) {
  Params params = plain(1.0F);
  params.min_keep = 3;
  params.min_p = 0.9F;
  params.top_p = 0.01F;
  Sampler sampler(params, 5);
  (void)sampler.sample(std::vector<float>{10, 0, 1, 2, 3});
  ASSERT_EQ(sampler.candidates().size(), 3U);
  EXPECT_EQ(sampler.candidates()[0].id, 0);
  EXPECT_EQ(sampler.candidates()[2].id, 3);
}

TEST(SamplerList, NamesAliasesAndLetters) {
  const std::vector<std::string> expected{"top_k", "top_p", "temperature"};
  EXPECT_EQ(parse_order("TOP-K;nucleus;temp"), expected);
  EXPECT_EQ(parse_order("topk;;topp;temperature;"), expected);
  EXPECT_EQ(parse_letters("kpt"), expected);
}

TEST(SamplerList, OrderIsKept) {
  Params params = plain(0.5F);
  params.top_k = 0;
  params.top_p = 0.8F;
  params.min_p = 0.0F;
  const std::vector<float> logits{std::log(0.5F), std::log(0.25F), std::log(0.25F)};
  params.order = parse_order("temperature;top_p");  // after the division: 0.667 0.167 0.167, two reach 0.8
  Sampler cold(params, 3);
  (void)cold.sample(logits);
  EXPECT_EQ(cold.candidates().size(), 2U);
  params.order = parse_order("top_p;temperature");  // before it: all three are needed
  Sampler hot(params, 3);
  (void)hot.sample(logits);
  EXPECT_EQ(hot.candidates().size(), 3U);
}

TEST(SamplerList, RefusesByName) {
  EXPECT_NE(message_of([] { (void)parse_order("top_k;dry"); }).find("'dry' is not supported yet"), std::string::npos);
  EXPECT_NE(message_of([] { (void)parse_order("tok_p"); }).find("unknown sampler 'tok_p'"), std::string::npos);
  EXPECT_NE(message_of([] { (void)parse_letters("kz"); }).find("unknown sampler letter 'z'"), std::string::npos);
}

TEST(Params, OutOfRangeIsRefusedByName) {
  const auto refused = [](auto change, const char* name) {
    Params params;
    change(params);
    EXPECT_NE(message_of([&] { validate(params); }).find(name), std::string::npos) << name;
  };
  refused([](Params& p) { p.repeat_penalty = 0.0F; }, "repeat penalty");
  refused([](Params& p) { p.repeat_penalty = 1e-45F; }, "repeat penalty");
  refused([](Params& p) { p.presence_penalty = kInfinity; }, "presence penalty");
  refused([](Params& p) { p.frequency_penalty = std::nanf(""); }, "frequency penalty");
  refused([](Params& p) { p.repeat_last_n = -2; }, "repeat-last-n");
  refused([](Params& p) { p.temperature = std::nanf(""); }, "temperature");
  refused([](Params& p) { p.min_keep = -1; }, "min-keep");
}

TEST(Logprobs, BestFirstAndNormalised) {
  const std::vector<float> logits{std::log(0.1F), std::log(0.6F), std::log(0.3F)};
  const auto top = top_logprobs(logits, 2);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].token, 1);
  EXPECT_NEAR(top[0].logprob, std::log(0.6F), 1e-6F);
  EXPECT_EQ(top[1].token, 2);
  EXPECT_NEAR(top[1].logprob, std::log(0.3F), 1e-6F);
  EXPECT_NEAR(logprob(logits, 0), std::log(0.1F), 1e-6F);
}

TEST(Logprobs, LargeLogitsDoNotOverflow) {
  const auto top = top_logprobs(std::vector<float>{10000.0F, 9999.0F}, 5);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_NEAR(top[0].logprob, -0.31326F, 1e-4F);
}

TEST(Logprobs, ImpossibleTokenIsTheLowestFiniteNumber) {
  const auto top = top_logprobs(std::vector<float>{0.0F, -kInfinity}, 2);
  EXPECT_EQ(top[1].logprob, std::numeric_limits<float>::lowest());
}

}  // namespace
}  // namespace brisk::sampling
