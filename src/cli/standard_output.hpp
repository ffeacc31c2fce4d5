#pragma once

#include <string_view>

namespace brisk::cli {

/// Standard streams that the caller closed become /dev/null, so that no file which is opened later gets their numbers
/// (an answer would go into the log file). Text for a closed standard output counts as lost.
void guard_standard_streams();

/// Writes to standard output at once. The first failure is remembered and later text dropped, so that what computes the
/// text can stop in its own way: interrupts() counts it like Ctrl-C.
void put_output(std::string_view text) noexcept;

/// Why text was lost (an errno), 0 when none was. EPIPE: the reader went away.
[[nodiscard]] int output_error() noexcept;

}  // namespace brisk::cli
