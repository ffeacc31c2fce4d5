#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/request.hpp"
#include "engine/stop_filter.hpp"
#include "model/runner.hpp"
#include "sampling/sampler.hpp"
#include "tokenizer/stream_decoder.hpp"
#include "tokenizer/tokenizer.hpp"

namespace brisk::engine {

/// A request on its way, from submit to on_finish.
struct Job {
  uint64_t id;
  Request request;
  EventSink* sink;
  std::atomic<bool> cancelled = false;
};

/// One sequence of the runner: the tokens whose KV it holds, and the request that it serves, if any. Used by the loop's
/// thread only.
class Slot {
 public:
  Slot(model::SequenceId sequence, model::Runner& runner, const tokenizer::Tokenizer& tokenizer,
       std::span<const int32_t> eog_tokens);

  [[nodiscard]] bool busy() const noexcept { return job_ != nullptr; }
  [[nodiscard]] const Job* job() const noexcept { return job_.get(); }
  /// Past its prompt.
  [[nodiscard]] bool answering() const noexcept { return timings_.predicted_n > 0; }
  /// Tokens of `prompt` that would not have to be computed here.
  [[nodiscard]] size_t reusable(std::span<const int32_t> prompt) const;

  /// Starts a request. One that cannot be served is finished at once.
  void begin(std::shared_ptr<Job> job);
  /// Appends up to `budget` of the tokens that wait to be computed; returns how many.
  size_t add_to(model::Batch& batch, size_t budget);
  /// After a decode of the batch: the added tokens are computed; samples when they ended in a wanted output.
  void advance();
  /// After a decode that was broken off: keeps what was computed.
  void resync();
  void finish(FinishReason reason, std::string error = {});

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::string refusal(const Request& request) const;
  [[nodiscard]] bool make_room();
  void take_token(std::span<const float> logits);
  void emit(int32_t token, std::span<const float> logits);

  const model::SequenceId sequence_;
  model::Runner& runner_;
  const tokenizer::Tokenizer& tokenizer_;
  std::span<const int32_t> eog_tokens_;

  std::vector<int32_t> history_;  // tokens whose KV the sequence holds, in order; index = position
  std::vector<int32_t> pending_;  // tokens to compute next
  size_t n_added_ = 0;            // of pending_, in the batch under way
  size_t output_index_ = 0;       // row of the batch whose logits are for this slot
  bool output_wanted_ = false;

  std::shared_ptr<Job> job_;
  std::unique_ptr<sampling::Sampler> sampler_;
  std::optional<tokenizer::StreamDecoder> decoder_;
  std::optional<StopFilter> stop_filter_;
  Timings timings_;
  Clock::time_point started_;
  Clock::time_point first_token_;
};

}  // namespace brisk::engine
