#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "cpu/barrier.hpp"

namespace brisk::cpu {

/// Persistent threads that run one function together. The caller of run() is thread 0; workers are started when first
/// needed. Any thread may call run(); calls follow one another.
class ThreadPool {
 public:
  /// Zero thread counts mean the default of the machine.
  explicit ThreadPool(const ThreadOptions& options);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int n_threads(bool many_tokens) const noexcept { return many_tokens ? n_batch_ : n_decode_; }

  /// Calls fn(thread) for 0 <= thread < n_threads, all at the same time; returns when all have returned. fn must not
  /// throw. Inside, barrier() may be used by all of these threads.
  void run(int n_threads, const std::function<void(int)>& fn);
  [[nodiscard]] Barrier& barrier() noexcept { return barrier_; }

  /// Calls fn(i) for 0 <= i < n on the default number of threads, in any order; rethrows the first failure.
  void for_each(int64_t n, const std::function<void(int64_t)>& fn);

  /// While paused, idle workers sleep at once instead of spinning; run() still works.
  void pause() noexcept { paused_.store(true, std::memory_order_relaxed); }
  void resume() noexcept { paused_.store(false, std::memory_order_relaxed); }

 private:
  void start_workers(int n_threads);
  void work(int index);
  void bind_caller();
  [[nodiscard]] Patience patience(int n_threads) const noexcept;

  ThreadOptions options_;
  std::vector<int> processors_;  ///< that may be used
  int n_decode_ = 1;
  int n_batch_ = 1;
  std::mutex run_mutex_;
  std::thread::id bound_caller_;
  std::vector<std::thread> workers_;
  Crowding crowding_;
  Barrier barrier_{crowding_};
  Signal start_;
  Signal done_;
  // Written by run() before start_ changes.
  const std::function<void(int)>* fn_ = nullptr;
  int active_ = 0;
  Patience idle_patience_;
  bool stop_ = false;
  alignas(64) std::atomic<int> running_{0};
  std::atomic<bool> paused_{false};
};

}  // namespace brisk::cpu
