#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace brisk {

enum class ErrorCode {
  invalid_argument,  ///< the caller asked for something that cannot be: a flag, a parameter, a shape
  not_found,         ///< a file, model or name that is not there
  io,                ///< the operating system refused
  corrupt,           ///< a file or message whose bytes contradict themselves
  unsupported,       ///< valid, but brisk cannot do it
  out_of_memory,
  context_full,
  cancelled,
  internal,  ///< a bug of brisk's own
};

/// An error from outside: what, where, what to do next. `what()` is meant for a person.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Throws Error with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace brisk

/// For invariants of our own, never reachable from input; throws Error with code `internal`.
#define BRISK_CHECK(condition, why) \
  ((condition) ? static_cast<void>(0) : ::brisk::check_failed(#condition, why, __FILE__, __LINE__))

#ifdef BRISK_DCHECKS
#define BRISK_DCHECK(condition, why) BRISK_CHECK(condition, why)
#else
#define BRISK_DCHECK(condition, why) static_cast<void>(0)
#endif
