#include "cli/log.hpp"

#include "base/error.hpp"
#include "cli/standard_output.hpp"
#include "cli/terminal.hpp"

#include <cerrno>
#include <cstring>

namespace brisk::cli {
namespace {

// M.SS.mmm.uuu since the start.
std::string stamp(std::chrono::steady_clock::duration since) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  return fmt::format("{}.{:02}.{:03}.{:03}", us / 60000000, us / 1000000 % 60, us / 1000 % 1000, us % 1000);
}

char letter(Level level) {
  constexpr std::string_view kLetters = "?EWITD";
  return kLetters[static_cast<size_t>(level)];
}

std::string_view color(Level level) {
  if (level == Level::error) return "\x1b[31m";
  if (level == Level::warn) return "\x1b[35m";
  return "";
}

bool put(std::FILE* stream, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
}

}  // namespace

Log::Log(const LogOptions& options, bool text_is_logged)
    : options_(options), text_is_logged_(text_is_logged), start_(std::chrono::steady_clock::now()) {
  colored_ = options.colors == Switch::on || (options.colors == Switch::automatic && wants_color(kErrors));
  if (options.file.empty()) return;
  file_ = std::fopen(options.file.c_str(), "w");
  if (file_ == nullptr) {
    fail(ErrorCode::io, "cannot write the log file '{}': {}", options.file, std::strerror(errno));
  }
}

Log::~Log() {
  if (file_ != nullptr) std::fclose(file_);
}

bool Log::enabled(Level level) const noexcept {
  return !options_.disabled && static_cast<int>(level) <= options_.verbosity;
}

std::string Log::line(Level level, std::string_view text, bool colored) const {
  std::string out;
  if (options_.timestamps) out += stamp(std::chrono::steady_clock::now() - start_) + " ";
  if (options_.prefix) out += fmt::format("{} ", letter(level));
  const std::string_view on = colored ? color(level) : "";
  out += fmt::format("{}{}{}\n", on, text, on.empty() ? "" : "\x1b[0m");
  return out;
}

void Log::write(Level level, std::string_view text) {
  if (!enabled(level)) return;
  const std::scoped_lock lock(mutex_);
  put(stderr, line(level, text, colored_));
  put_file(line(level, text, false));
}

// Called with the lock held. A log that cannot be written ends, the answer goes on.
void Log::put_file(std::string_view text) {
  if (file_ == nullptr || text.empty() || put(file_, text)) return;
  put(stderr, fmt::format("warning: cannot write to the log file '{}': {}; it ends here\n", options_.file,
                          std::strerror(errno)));
  std::fclose(std::exchange(file_, nullptr));
}

void Log::output(std::string_view text) {
  if (text.empty() || (text_is_logged_ && options_.disabled)) return;
  const std::scoped_lock lock(mutex_);
  put_output(text);
  if (text_is_logged_) put_file(text);
}

void Log::notice(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  put(stderr, fmt::format("{}\n", text));
}

}  // namespace brisk::cli
