#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "gguf/reader.hpp"
#include "test_support/paths.hpp"

namespace brisk::engine {
namespace {

/// Collects what one request says. Declared before the engine that calls it.
struct Collector final : EventSink {
  std::vector<int32_t> tokens;
  std::string text;
  std::vector<size_t> n_probs;
  FinishEvent end{};
  std::atomic<int> finishes = 0;
  std::function<void()> on_each;

  void on_token(const TokenEvent& event) override {
    tokens.push_back(event.token);
    text += event.text;
    n_probs.push_back(event.probs.size());
    if (on_each) on_each();
  }
  void on_finish(const FinishEvent& event) override {
    end = event;
    text += event.text;
    finishes.fetch_add(1);
    finishes.notify_all();
  }
};

/// The tiny golden model on the CPU, shared by the tests of this file.
struct Fixture {
  gguf::Model file = gguf::Model::open(test::data_file("golden/arch/llama3-rope/model.gguf"));
  std::unique_ptr<Backend> backend = make_cpu_backend({});
  Device& device = *backend->devices()[0];
  std::unique_ptr<model::Model> model = model::Model::load(file, device);
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer = tokenizer::Tokenizer::load(file.metadata());

  static Fixture& get() {
    static Fixture fixture;
    return fixture;
  }
  [[nodiscard]] std::unique_ptr<Engine> engine(int32_t n_seq = 1, int32_t n_ctx = 256, int32_t n_ubatch = 32) const {
    model::RunnerOptions options;
    options.n_ctx = n_ctx;
    options.n_seq_max = n_seq;
    options.n_ubatch = n_ubatch;
    return std::make_unique<Engine>(*model, *tokenizer, device, options);
  }
};

Request greedy(std::vector<int32_t> prompt, int32_t n_predict) {
  Request request;
  request.prompt = std::move(prompt);
  request.sampling.temperature = 0;
  request.n_predict = n_predict;
  request.ignore_eos = true;
  return request;
}

std::vector<int32_t> answer(Engine& engine, Request request) {
  Collector sink;
  engine.run(std::move(request), sink);
  EXPECT_EQ(sink.finishes, 1);
  EXPECT_EQ(sink.end.error, "");
  return sink.tokens;
}

const std::vector<int32_t> kPrompt = {10, 20, 30, 40, 50, 60, 70};

TEST(Engine, GeneratesTheAskedNumberOfTokens) {
  const auto engine = Fixture::get().engine();
  Collector sink;
  engine->run(greedy(kPrompt, 9), sink);
  EXPECT_EQ(sink.tokens.size(), 9u);
  EXPECT_EQ(sink.end.reason, FinishReason::length);
  EXPECT_EQ(sink.end.timings.prompt_n, 7);
  EXPECT_EQ(sink.end.timings.predicted_n, 9);
}

TEST(Engine, ReusesThePrefixOfTheLastRequestWithTheSameAnswer) {
  const auto engine = Fixture::get().engine();
  const auto fresh = answer(*engine, greedy(kPrompt, 12));
  std::vector<int32_t> longer = kPrompt;
  longer.insert(longer.end(), fresh.begin(), fresh.begin() + 5);
  Collector sink;
  engine->run(greedy(longer, 7), sink);
  EXPECT_EQ(sink.tokens, std::vector<int32_t>(fresh.begin() + 5, fresh.end()));
  EXPECT_EQ(sink.end.timings.cached_n, 11);
  EXPECT_EQ(sink.end.timings.prompt_n, 1);
}

TEST(Engine, ManyRequestsAtOnceAnswerAsIfAlone) {
  constexpr int32_t kRequests = 10;
  std::vector<Collector> sinks(kRequests);
  const auto alone = Fixture::get().engine();
  const auto busy = Fixture::get().engine(3);
  std::vector<std::vector<int32_t>> expected;
  std::vector<Request> requests;
  for (int32_t i = 0; i < kRequests; ++i) {
    std::vector<int32_t> prompt;
    for (int32_t j = 0; j < 1 + 13 * i; ++j) prompt.push_back((7 * i + 11 * j) % 500 + 4);
    requests.push_back(greedy(prompt, 6 + i));
    expected.push_back(answer(*alone, requests.back()));
  }
  for (size_t i = 0; i < requests.size(); ++i) busy->submit(requests[i], sinks[i]);
  for (Collector& sink : sinks) sink.finishes.wait(0);
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(sinks[i].tokens, expected[i]) << i;
}

TEST(Engine, TooLongAPromptIsAnErrorOfThatRequestOnly) {
  const auto engine = Fixture::get().engine(1, 64);
  Collector sink;
  engine->run(greedy(std::vector<int32_t>(64, 5), 4), sink);
  EXPECT_EQ(sink.end.reason, FinishReason::context_full);
  EXPECT_NE(sink.end.error.find("64 tokens"), std::string::npos) << sink.end.error;
  EXPECT_EQ(answer(*engine, greedy(kPrompt, 3)).size(), 3u);
}

TEST(Engine, RefusesTokensOutsideTheVocabulary) {
  const auto engine = Fixture::get().engine();
  for (const int32_t bad : {-1, 512, 1 << 30}) {
    Collector sink;
    engine->run(greedy({1, bad}, 4), sink);
    EXPECT_EQ(sink.end.reason, FinishReason::failed);
    EXPECT_NE(sink.end.error.find("vocabulary"), std::string::npos);
  }
}

TEST(Engine, EmptyPromptIsRefused) {
  const auto engine = Fixture::get().engine();
  Collector sink;
  engine->run(greedy({}, 4), sink);
  EXPECT_EQ(sink.end.reason, FinishReason::failed);
}

TEST(Engine, FullContextEndsTheAnswer) {
  const auto engine = Fixture::get().engine(1, 64);
  Collector sink;
  engine->run(greedy(kPrompt, -1), sink);
  EXPECT_EQ(sink.end.reason, FinishReason::context_full);
  // 64 positions hold the prompt and all answer tokens but the last, which is never computed.
  EXPECT_EQ(sink.tokens.size(), 64u - kPrompt.size() + 1);
}

TEST(Engine, ContextShiftGoesOnBeyondTheContext) {
  const auto engine = Fixture::get().engine(1, 64);
  Request request = greedy(kPrompt, 150);
  request.context_shift = true;
  request.n_keep = 4;
  Collector sink;
  engine->run(request, sink);
  EXPECT_EQ(sink.end.reason, FinishReason::length) << sink.end.error;
  EXPECT_EQ(sink.tokens.size(), 150u);
}

TEST(Engine, CancelEndsARunningRequest) {
  const auto engine = Fixture::get().engine();
  Collector sink;
  std::atomic<RequestId> id = 0;
  sink.on_each = [&] { engine->cancel(id); };
  Request request = greedy(kPrompt, -1);
  id = 1;  // the engine's first request
  engine->run(request, sink);
  EXPECT_EQ(sink.end.reason, FinishReason::cancelled);
  EXPECT_LT(sink.tokens.size(), 10u);
  EXPECT_EQ(answer(*engine, greedy(kPrompt, 3)).size(), 3u);
}

TEST(Engine, DestructionCancelsWhatWaits) {
  std::vector<Collector> sinks(4);
  {
    const auto engine = Fixture::get().engine();
    for (Collector& sink : sinks) engine->submit(greedy(kPrompt, -1), sink);
  }
  for (const Collector& sink : sinks) EXPECT_EQ(sink.finishes, 1);
}

TEST(Engine, ReportsLogProbabilities) {
  const auto engine = Fixture::get().engine();
  Request request = greedy(kPrompt, 3);
  request.n_probs = 5;
  Collector sink;
  engine->run(request, sink);
  EXPECT_EQ(sink.n_probs, (std::vector<size_t>{5, 5, 5}));
}

TEST(Engine, StopTextEndsTheAnswer) {
  const auto engine = Fixture::get().engine();
  Collector whole;
  engine->run(greedy(kPrompt, 20), whole);
  ASSERT_GT(whole.text.size(), 8u);
  const std::string stop = whole.text.substr(5, 3);
  Request request = greedy(kPrompt, 20);
  request.stop = {stop};
  Collector sink;
  engine->run(request, sink);
  EXPECT_EQ(sink.end.reason, FinishReason::stop_text);
  EXPECT_EQ(sink.text, whole.text.substr(0, whole.text.find(stop)));
}

TEST(Engine, SameSeedSameTextWhateverElseRuns) {
  Collector other;
  const auto alone = Fixture::get().engine();
  const auto busy = Fixture::get().engine(2);
  Request request = greedy(kPrompt, 20);
  request.sampling.temperature = 1.0F;
  request.sampling.seed = 42;
  const auto expected = answer(*alone, request);
  busy->submit(greedy({3, 4, 5}, 100), other);
  EXPECT_EQ(answer(*busy, request), expected);
}

}  // namespace
}  // namespace brisk::engine
