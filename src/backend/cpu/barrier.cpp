#include "cpu/barrier.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <climits>

namespace brisk::cpu {

namespace {

// A switch to a thread that hands back at once takes below 5 us; a time slice lasts milliseconds.
constexpr std::chrono::microseconds kSlowYield{100};
// A few seconds of decoding: a time slice lost in that time does not show.
constexpr int kSleepingWaits = 20000;

void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace

void futex_wait(const std::atomic<uint32_t>& word, uint32_t value) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool Crowding::may_yield() noexcept {
  const int left = sleeping_waits_.load(std::memory_order_relaxed);
  if (left == 0) return true;
  // Threads may overwrite each other's count; it need not be exact.
  sleeping_waits_.store(left - 1, std::memory_order_relaxed);
  return false;
}

void Crowding::note_slow_yield() noexcept { sleeping_waits_.store(kSleepingWaits, std::memory_order_relaxed); }

void Signal::wait_change(uint32_t old, Patience patience, Crowding& crowding) noexcept {
  for (int i = 0; i < patience.spins; ++i) {
    if (value() != old) return;
    pause_core();
  }
  if (patience.yields > 0 && crowding.may_yield()) {
    for (int i = 0; i < patience.yields; ++i) {
      const auto start = std::chrono::steady_clock::now();
      sched_yield();
      const bool slow = std::chrono::steady_clock::now() - start > kSlowYield;
      if (slow) crowding.note_slow_yield();
      if (value() != old) return;
      if (slow) break;
    }
  }
  sleepers_.fetch_add(1);
  while (word_.load() == old) futex_wait(word_, old);
  sleepers_.fetch_sub(1);
}

void Signal::change() noexcept {
  word_.fetch_add(1);
  if (sleepers_.load() != 0) futex_wake_all(word_);
}

}  // namespace brisk::cpu
