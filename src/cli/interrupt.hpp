#pragma once

namespace brisk::cli {

/// From now on Ctrl-C and SIGTERM are counted instead of ending the process; the second one before clear_interrupts()
/// ends it at once with exit code 130 and the terminal's colours reset. System calls that wait (reading a line) return.
void catch_interrupts();

/// Interrupts since the start or the last clear_interrupts(); lost output counts as one that is never cleared.
[[nodiscard]] int interrupts() noexcept;
void clear_interrupts() noexcept;

}  // namespace brisk::cli
