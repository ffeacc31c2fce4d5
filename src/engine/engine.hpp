#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/request.hpp"
#include "model/model.hpp"
#include "model/runner.hpp"
#include "tokenizer/tokenizer.hpp"

namespace brisk::engine {

using RequestId = uint64_t;

/// Serves requests: one thread runs a loop that mixes the prompts of new requests with the next token of the running
/// ones (continuous batching). Requests wait while all sequences are busy. A sequence keeps the KV of its last request,
/// so a request that continues it computes only what is new; this never changes a byte of the answer.
///
/// Model, tokenizer and device must outlive the engine. All functions may be called from any thread.
class Engine {
 public:
  /// Allocates the KV cache (options.n_seq_max sequences of options.n_ctx positions each) and starts the loop.
  Engine(const model::Model& model, const tokenizer::Tokenizer& tokenizer, Device& device,
         const model::RunnerOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  /// Cancels what is left and joins the loop.
  ~Engine();

  /// Queues a request. `sink` must live until its on_finish. A request that cannot be served ends with `failed`.
  RequestId submit(Request request, EventSink& sink);
  /// Ends a request soon (`cancelled`); unknown and finished ids are ignored.
  void cancel(RequestId id);
  /// submit, then wait for on_finish.
  void run(Request request, EventSink& sink);
  /// Runs a token through the model so that the first request meets warm caches and mapped pages.
  void warm_up();
  /// Positions of one sequence.
  [[nodiscard]] int32_t n_ctx() const noexcept;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace brisk::engine
