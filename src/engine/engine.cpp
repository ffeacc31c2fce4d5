#include "engine/engine.hpp"

#include <condition_variable>
#include <mutex>

#include "engine/loop.hpp"

namespace brisk::engine {

namespace {

/// Passes everything on and lets one thread wait for the end.
class WaitingSink final : public EventSink {
 public:
  explicit WaitingSink(EventSink& inner) : inner_(inner) {}

  void on_prompt(int32_t done, int32_t total) override { inner_.on_prompt(done, total); }
  void on_token(const TokenEvent& event) override { inner_.on_token(event); }
  void on_finish(const FinishEvent& event) override {
    inner_.on_finish(event);
    // Notified under the lock: the waiter may destroy this object as soon as it sees the flag.
    const std::lock_guard lock(mutex_);
    finished_ = true;
    ended_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return finished_; });
  }

 private:
  EventSink& inner_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool finished_ = false;
};

class SilentSink final : public EventSink {
 public:
  void on_token(const TokenEvent& /*event*/) override {}
  void on_finish(const FinishEvent& /*event*/) override {}
};

}  // namespace

const char* name_of(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::end_of_generation:
    case FinishReason::stop_text:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::context_full:
      return "context_full";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::failed:
      return "error";
  }
  return "error";
}

Engine::Engine(const model::Model& model, const tokenizer::Tokenizer& tokenizer, Device& device,
               const model::RunnerOptions& options)
    : loop_(std::make_unique<Loop>(model, tokenizer, device, options)) {}

Engine::~Engine() = default;

RequestId Engine::submit(Request request, EventSink& sink) { return loop_->submit(std::move(request), sink); }

void Engine::cancel(RequestId id) { loop_->cancel(id); }

void Engine::run(Request request, EventSink& sink) {
  WaitingSink waiting(sink);
  submit(std::move(request), waiting);
  waiting.wait();
}

void Engine::warm_up() {
  SilentSink sink;
  Request request;
  request.prompt = {0};
  request.n_predict = 1;
  run(std::move(request), sink);
}

int32_t Engine::n_ctx() const noexcept { return loop_->n_ctx(); }

}  // namespace brisk::engine
