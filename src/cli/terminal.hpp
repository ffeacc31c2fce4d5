#pragma once

#include "cli/options.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace brisk::cli {

// The standard streams by number.
inline constexpr int kInput = 0;
inline constexpr int kOutput = 1;
inline constexpr int kErrors = 2;

[[nodiscard]] bool is_terminal(int fd) noexcept;

/// Whether the stream is a terminal that should get colour: no NO_COLOR, TERM not dumb.
[[nodiscard]] bool wants_color(int fd) noexcept;

/// Columns of the terminal; 80 when unknown.
[[nodiscard]] int terminal_width(int fd) noexcept;

/// What the text that follows is; told apart by colour.
enum class Style { reset, prompt, input, info, error };

/// The escape sequence that switches to a style.
[[nodiscard]] std::string_view style_code(Style style) noexcept;

/// Reads what a person types, or lines of standard input when that is no terminal (or with simple input).
class LineReader {
 public:
  /// `edit`: line editing and history by libedit on the terminal.
  LineReader(bool edit, bool multiline);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

  /// One message: lines until one that ends it. A line that ends with '\' goes on (with `multiline`: ends the message),
  /// one that ends with '/' ends it without its newline; these marks are dropped. nullopt at the end of the input;
  /// `interrupted` tells whether Ctrl-C was the reason.
  [[nodiscard]] std::optional<std::string> read(const std::string& prompt);
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }
  /// Whether lines are edited on the terminal; the prompt is shown only then.
  [[nodiscard]] bool edits() const noexcept { return edit_; }

 private:
  [[nodiscard]] std::optional<std::string> read_line(const std::string& prompt);
  [[nodiscard]] std::optional<std::string> edit_line(const std::string& prompt);

  bool edit_;
  bool multiline_;
  bool interrupted_ = false;
  struct Editor;
  Editor* editor_ = nullptr;
};

/// Everything on standard input.
[[nodiscard]] std::string read_all_input();

/// A line on standard error that is drawn again and again; nothing when that is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label, bool enabled);
  ~ProgressBar() { finish(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// `fraction` from 0 to 1.
  void update(double fraction);
  /// Takes the line away.
  void finish();

 private:
  std::string label_;
  bool enabled_;
  int shown_percent_ = -1;
};

}  // namespace brisk::cli
