#pragma once

#include <atomic>
#include <cstdint>

namespace brisk::cpu {

/// Blocks while `word` is `value`; may return early. wake_all() after a change of the word ends every wait on it.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t value) noexcept;
void futex_wake_all(std::atomic<uint32_t>& word) noexcept;

/// Whether other programs compete for the processors. A yield that takes long has lost the core to one of them for a
/// time slice; then a sleep is the better wait, since a thread that is woken comes first. On a quiet machine a yield
/// returns at once, and sleep would cost the time of a wake-up.
class Crowding {
 public:
  /// Whether the next wait may yield.
  [[nodiscard]] bool may_yield() noexcept;
  void note_slow_yield() noexcept;

 private:
  std::atomic<int> sleeping_waits_{0};  ///< waits still to go without a yield
};

/// How long a waiting thread looks before it sleeps.
struct Patience {
  int spins = 0;   ///< pauses, holding the core
  int yields = 0;  ///< offers of the core to others, while these do not take it
};

/// A word that changes and whose change threads wait for: they spin, then yield, then sleep, so that a waiter never
/// keeps the thread it waits for off the processor for long.
class Signal {
 public:
  [[nodiscard]] uint32_t value() const noexcept { return word_.load(std::memory_order_acquire); }
  /// Returns once the value is not `old`.
  void wait_change(uint32_t old, Patience patience, Crowding& crowding) noexcept;
  /// Adds one and wakes sleepers.
  void change() noexcept;

 private:
  // seq_cst between the word and the sleeper count: either the changer sees the sleeper or the sleeper sees the change.
  alignas(64) std::atomic<uint32_t> word_{0};
  std::atomic<uint32_t> sleepers_{0};
};

/// Barrier of a fixed number of threads, reusable. Everything before wait() in any thread happens before everything
/// after it in all of them.
class Barrier {
 public:
  explicit Barrier(Crowding& crowding) : crowding_(crowding) {}
  /// Not while threads wait.
  void reset(int n_threads, Patience patience) noexcept {
    n_threads_ = n_threads;
    patience_ = patience;
  }
  void wait() noexcept {
    wait_after([] {});
  }
  /// The last thread to arrive calls `work` before all go on: what one thread must do between two parallel parts costs
  /// no second barrier.
  template <class Work>
  void wait_after(Work work) noexcept {
    if (n_threads_ == 1) return work();
    const uint32_t phase = phase_.value();
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(n_threads_)) {
      arrived_.store(0, std::memory_order_relaxed);
      work();
      phase_.change();
    } else {
      phase_.wait_change(phase, patience_, crowding_);
    }
  }

 private:
  alignas(64) std::atomic<uint32_t> arrived_{0};
  Signal phase_;
  int n_threads_ = 1;
  Patience patience_;
  Crowding& crowding_;
};

}  // namespace brisk::cpu
