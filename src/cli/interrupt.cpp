#include "cli/interrupt.hpp"

#include "cli/exit_code.hpp"
#include "cli/standard_output.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace brisk::cli {
namespace {

std::atomic<int> count{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

void on_signal(int /*number*/) {
  if (count.fetch_add(1) == 0) return;
  constexpr char kReset[] = "\x1b[0m\n";
  if (isatty(STDERR_FILENO) != 0) static_cast<void>(!write(STDERR_FILENO, kReset, sizeof(kReset) - 1));
  _exit(kInterrupted);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: a read that waits for a line must return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that went away (head, less) is an error of the next write, not a death.
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

int interrupts() noexcept { return count.load() + (output_error() != 0 ? 1 : 0); }

void clear_interrupts() noexcept { count.store(0); }

}  // namespace brisk::cli
