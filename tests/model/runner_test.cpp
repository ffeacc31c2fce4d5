#include "model/runner.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "loaded_model.hpp"
#include "test_support/paths.hpp"

namespace brisk::model::test {
namespace {

const LoadedModel& small_model() {
  static const LoadedModel loaded(brisk::test::data_file("golden/arch/llama3-rope/model.gguf"));
  return loaded;
}

const Tokens kText = {54, 261, 276, 339, 326, 444, 86, 432, 262, 285, 284, 344, 30, 398, 301, 316, 292};

std::vector<float> last_row(std::vector<float> rows) { return {rows.end() - 512, rows.end()}; }

Batch batch_of(std::span<const int32_t> tokens, SequenceId id, int32_t first = 0) {
  Batch batch;
  for (size_t i = 0; i < tokens.size(); ++i) batch.add(tokens[i], first + static_cast<int32_t>(i), id, false);
  return batch;
}

TEST(Runner, GivesLogitsOnlyWhereAskedAndTheSameAsIfAllWereAsked) {
  Runner all = small_model().runner(exact_options());
  const std::vector<float> want = logits_of(all, 0, kText);
  Runner runner = small_model().runner(exact_options());
  Batch batch = batch_of(kText, 0);
  batch.outputs[3] = 1;
  batch.outputs[16] = 1;
  ASSERT_TRUE(runner.decode(batch).ok());
  for (const size_t i : {size_t{3}, size_t{16}}) {
    EXPECT_EQ(max_difference(runner.logits(i), std::span(want).subspan(i * 512, 512)), 0.0f);
  }
  EXPECT_THROW(static_cast<void>(runner.logits(4)), Error);
  EXPECT_THROW(static_cast<void>(runner.logits(17)), Error);
}

TEST(Runner, TokensWithoutOutputsStillFillTheCache) {
  Runner whole = small_model().runner(exact_options());
  const std::vector<float> want = last_row(logits_of(whole, 0, kText));
  Runner runner = small_model().runner(exact_options());
  ASSERT_TRUE(runner.decode(batch_of(std::span(kText).first(16), 0)).ok());
  EXPECT_EQ(max_difference(logits_of(runner, 0, std::span(kText).last(1)), want), 0.0f);
}

TEST(Runner, RefusesBatchesThatCannotBe) {
  Runner runner = small_model().runner(exact_options(2));
  const auto refused = [&](const Batch& batch) {
    try {
      static_cast<void>(runner.decode(batch));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  Batch batch = batch_of(kText, 0);
  batch.tokens[5] = 512;
  EXPECT_EQ(refused(batch), "token 512 is outside the vocabulary of 512");
  batch.tokens[5] = -1;
  EXPECT_EQ(refused(batch), "token -1 is outside the vocabulary of 512");
  batch = batch_of(kText, 2);
  EXPECT_EQ(refused(batch), "sequence 2 is outside 0..1");
  batch = batch_of(kText, 0);
  batch.positions[1] = 0;
  EXPECT_EQ(refused(batch), "sequence 0: position 0 is not behind 0");
  batch.outputs.pop_back();
  EXPECT_NE(refused(batch), "accepted");
  EXPECT_EQ(runner.kv().size(0), 0) << "nothing was stored";
  ASSERT_TRUE(runner.decode(batch_of(kText, 0)).ok());
  EXPECT_EQ(refused(batch_of(kText, 0)), "sequence 0: position 0 is not behind 16");
}

TEST(Runner, AFullContextIsAValueAndTheOthersGoOn) {
  RunnerOptions options = exact_options(2);
  options.n_ctx = 20;
  Runner runner = small_model().runner(options);
  ASSERT_TRUE(runner.decode(batch_of(kText, 0)).ok());
  const DecodeResult full = runner.decode(batch_of(std::span(kText).first(4), 0, 17));
  EXPECT_FALSE(full.ok());
  EXPECT_EQ(full.sequence, 0);
  EXPECT_EQ(runner.kv().size(0), 17);
  EXPECT_TRUE(runner.decode(batch_of(kText, 1)).ok());
  EXPECT_TRUE(runner.decode(batch_of(std::span(kText).first(3), 0, 17)).ok());
}

TEST(Runner, AnAbortedDecodeLeavesTheSequenceAsItWas) {
  Runner runner = small_model().runner(exact_options());
  ASSERT_TRUE(runner.decode(batch_of(std::span(kText).first(8), 0)).ok());
  runner.set_abort([] { return true; });
  EXPECT_THROW(static_cast<void>(runner.decode(batch_of(std::span(kText).subspan(8), 0, 8))), Error);
  EXPECT_EQ(runner.kv().size(0), 8);
  runner.set_abort({});
  Runner other = small_model().runner(exact_options());
  const std::vector<float> want = last_row(logits_of(other, 0, kText));
  EXPECT_EQ(max_difference(last_row(logits_of(runner, 0, std::span(kText).subspan(8))), want), 0.0f);
}

TEST(Runner, AnEmptyBatchDoesNothing) {
  Runner runner = small_model().runner(exact_options());
  EXPECT_TRUE(runner.decode(Batch{}).ok());
}

// Rotary embedding sees differences of positions only, so a shifted text continues as the original does; what is left
// is the rounding of one more rotation.
TEST(Runner, AShiftedSequenceContinuesTheSameWay) {
  for (const char* architecture : {"llama3-rope", "gemma3", "smollm3", "qwen2"}) {
    const LoadedModel loaded(brisk::test::data_file(std::string("golden/arch/") + architecture + "/model.gguf"));
    Runner runner = loaded.runner(exact_options(2));
    ASSERT_TRUE(runner.decode(batch_of(std::span(kText).first(16), 0)).ok());
    ASSERT_TRUE(runner.kv().copy(0, 1, 0, -1));
    ASSERT_TRUE(runner.kv().shift(1, 0, -1, 37));
    EXPECT_EQ(runner.kv().pos_max(1), 52);
    const std::vector<float> want = logits_of(runner, 0, std::span(kText).last(1));
    EXPECT_LT(max_difference(logits_of(runner, 1, std::span(kText).last(1)), want), 1e-3f) << architecture;
  }
}

TEST(Runner, RemovingAFrontEqualsCopyingTheRest) {
  Runner runner = small_model().runner(exact_options(2));
  ASSERT_TRUE(runner.decode(batch_of(std::span(kText).first(16), 0)).ok());
  ASSERT_TRUE(runner.kv().copy(0, 1, 6, -1));
  ASSERT_TRUE(runner.kv().remove(0, 0, 6));
  const std::vector<float> removed = logits_of(runner, 0, std::span(kText).last(1));
  const std::vector<float> copied = logits_of(runner, 1, std::span(kText).last(1));
  EXPECT_EQ(max_difference(removed, copied), 0.0f);
  Runner whole = small_model().runner(exact_options());
  EXPECT_GT(max_difference(removed, last_row(logits_of(whole, 0, kText))), 0.01f) << "the front did matter";
}

TEST(Runner, AContextShiftAcrossPagesKeepsRowsWithTheirTokens) {
  // 200 tokens; dropping the first 70 and shifting must equal dropping them and not shifting, up to rounding.
  Tokens text;
  for (int i = 0; i < 200; ++i) text.push_back(kText[static_cast<size_t>(i * 7 % 17)] + i % 5);
  Runner runner = small_model().runner(exact_options(2));
  ASSERT_TRUE(runner.decode(batch_of(text, 0)).ok());
  ASSERT_TRUE(runner.kv().copy(0, 1, 0, -1));
  ASSERT_TRUE(runner.kv().remove(0, 0, 70));
  ASSERT_TRUE(runner.kv().remove(1, 0, 70));
  ASSERT_TRUE(runner.kv().shift(1, 70, -1, -70));
  EXPECT_EQ(runner.kv().pos_max(0), 199);
  EXPECT_EQ(runner.kv().pos_max(1), 129);
  const std::vector<float> want = logits_of(runner, 0, std::span(kText).first(1));
  EXPECT_LT(max_difference(logits_of(runner, 1, std::span(kText).first(1)), want), 1e-3f);
}

TEST(Runner, WindowedLayersGiveTheSameWithAndWithoutTheirOldPages) {
  const LoadedModel loaded(brisk::test::data_file("golden/arch/gemma3/model.gguf"));
  Tokens text;
  for (int i = 0; i < 240; ++i) text.push_back(kText[static_cast<size_t>(i * 5 % 17)] + i % 3);
  RunnerOptions options = exact_options();
  options.n_ubatch = 16;
  Runner freeing = loaded.runner(options);
  options.keep_windows = true;
  Runner keeping = loaded.runner(options);
  EXPECT_EQ(max_difference(logits_of(freeing, 0, text), logits_of(keeping, 0, text)), 0.0f);
  EXPECT_FALSE(freeing.kv().can_continue_at(0, 50));
  EXPECT_TRUE(keeping.kv().can_continue_at(0, 50));
}

TEST(Runner, LearnedPositionsEnd) {
  const LoadedModel loaded(brisk::test::data_file("golden/arch/gpt2/model.gguf"));
  Runner runner = loaded.runner(exact_options());
  EXPECT_THROW(static_cast<void>(runner.decode(batch_of(std::span(kText).first(1), 0, 128))), Error);
  EXPECT_TRUE(runner.decode(batch_of(std::span(kText).first(1), 0, 127)).ok());
}

TEST(Runner, HalfPrecisionCacheIsClose) {
  Runner exact = small_model().runner(exact_options());
  RunnerOptions options = exact_options();
  options.type_k = options.type_v = DType::f16;
  Runner half = small_model().runner(options);
  const float difference = max_difference(logits_of(exact, 0, kText), logits_of(half, 0, kText));
  EXPECT_GT(difference, 0.0f);
  EXPECT_LT(difference, 0.05f);
}

}  // namespace
}  // namespace brisk::model::test
