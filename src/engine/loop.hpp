#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/engine.hpp"
#include "engine/slot.hpp"

namespace brisk::engine {

/// The engine's thread and what it shares with callers: a queue under a mutex. Everything else belongs to the thread.
class Engine::Loop {
 public:
  Loop(const model::Model& model, const tokenizer::Tokenizer& tokenizer, Device& device,
       const model::RunnerOptions& options);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  RequestId submit(Request request, EventSink& sink);
  void cancel(RequestId id);
  [[nodiscard]] int32_t n_ctx() const noexcept { return runner_.kv().options().n_ctx; }

 private:
  void work();
  [[nodiscard]] bool wait_for_work();
  void assign();
  void drop_cancelled();
  void step();
  void fail_all(const char* why);
  [[nodiscard]] bool should_abort() const;

  model::Runner runner_;
  std::vector<int32_t> eog_tokens_;
  std::vector<Slot> slots_;
  model::Batch batch_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> queue_;        // guarded by mutex_
  std::map<RequestId, std::weak_ptr<Job>> jobs_;  // guarded by mutex_
  RequestId last_id_ = 0;                         // guarded by mutex_
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace brisk::engine
