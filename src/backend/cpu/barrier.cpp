#include "cpu/barrier.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace brisk::cpu {

namespace {

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

void Signal::wait_change(uint32_t old, Patience patience) noexcept {
  for (int i = 0; i < patience.spins; ++i) {
    if (value() != old) return;
    pause_core();
  }
  for (int i = 0; i < patience.yields; ++i) {
    if (value() != old) return;
    sched_yield();
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
