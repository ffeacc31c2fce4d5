#pragma once

#include "cli/options.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace brisk::cli {

enum class Level : int { error = 1, warn = 2, info = 3, trace = 4, debug = 5 };

/// Messages for people on standard error, and the program's text on standard output; both also into a file when asked
/// for. Lines are written at once and whole. May be called from any thread.
class Log {
 public:
  /// Throws Error(io) when the log file cannot be opened.
  Log(const LogOptions& options, bool text_is_logged);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  [[nodiscard]] bool enabled(Level level) const noexcept;
  void write(Level level, std::string_view text);
  /// Text of the program itself, on standard output, not a line and without a prefix.
  void output(std::string_view text);
  /// A line that is shown as it is, whatever the level.
  void notice(std::string_view text);

  template <typename... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::error, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    write(Level::warn, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    if (enabled(Level::info)) write(Level::info, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void put_file(std::string_view text);
  [[nodiscard]] std::string line(Level level, std::string_view text, bool colored) const;

  LogOptions options_;
  bool text_is_logged_;
  bool colored_;
  std::FILE* file_ = nullptr;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
};

}  // namespace brisk::cli
