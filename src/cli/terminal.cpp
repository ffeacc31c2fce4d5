#include "cli/terminal.hpp"

#include "base/error.hpp"
#include "cli/interrupt.hpp"
#include "cli/standard_output.hpp"

#include <fmt/format.h>
#include <histedit.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace brisk::cli {

bool is_terminal(int fd) noexcept { return isatty(fd) != 0; }

bool wants_color(int fd) noexcept {
  if (!is_terminal(fd)) return false;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

int terminal_width(int fd) noexcept {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string_view style_code(Style style) noexcept {
  switch (style) {
    case Style::prompt:
      return "\x1b[33m";
    case Style::input:
      return "\x1b[1m\x1b[32m";
    case Style::info:
      return "\x1b[35m";
    case Style::error:
      return "\x1b[1m\x1b[31m";
    default:
      return "\x1b[0m";
  }
}

/// libedit's state. Its prompt callback gets the pointer back through the client data.
struct LineReader::Editor {
  EditLine* line = nullptr;
  History* history = nullptr;
  std::string prompt;

  static char* prompt_of(EditLine* line) {
    Editor* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return self->prompt.data();
  }

  Editor() {
    line = el_init("brisk", stdin, stdout, stderr);
    history = history_init();
    HistEvent event{};
    ::history(history, &event, H_SETSIZE, 1000);
    ::history(history, &event, H_SETUNIQUE, 1);
    el_set(line, EL_CLIENTDATA, this);
    el_set(line, EL_PROMPT, prompt_of);
    el_set(line, EL_EDITOR, "emacs");
    el_set(line, EL_SIGNAL, 0);
    el_set(line, EL_HIST, ::history, history);
  }
  ~Editor() {
    history_end(history);
    el_end(line);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;
};

LineReader::LineReader(bool edit, bool multiline) : edit_(edit), multiline_(multiline) {
  if (edit_) editor_ = new Editor();
}

LineReader::~LineReader() { delete editor_; }

std::optional<std::string> LineReader::edit_line(const std::string& prompt) {
  editor_->prompt = prompt;
  int length = 0;
  const char* text = el_gets(editor_->line, &length);
  if (text == nullptr || length <= 0) {
    interrupted_ = interrupts() > 0;
    return std::nullopt;
  }
  std::string line(text, static_cast<size_t>(length));
  if (line != "\n") {
    HistEvent event{};
    ::history(editor_->history, &event, H_ENTER, line.c_str());
  }
  return line;
}

std::optional<std::string> LineReader::read_line(const std::string& prompt) {
  if (output_error() != 0) return std::nullopt;  // nobody would see the answer
  if (edit_) return edit_line(prompt);
  std::string line;
  int c = 0;
  while ((c = std::getchar()) != EOF) {
    line += static_cast<char>(c);
    if (c == '\n') return line;
  }
  interrupted_ = interrupts() > 0;
  if (interrupted_ || line.empty()) return std::nullopt;
  return line;
}

std::optional<std::string> LineReader::read(const std::string& prompt) {
  std::string message;
  bool first = true;
  while (true) {
    auto line = read_line(first ? prompt : "");
    if (!line) {
      if (first) return std::nullopt;
      return message;
    }
    first = false;
    const bool ended = line->ends_with('\n');
    if (ended) line->pop_back();
    const char mark = line->empty() ? '\0' : line->back();
    if (mark == '\\' || mark == '/') line->pop_back();
    // One space before the slash is the way to send nothing.
    if (mark == '/' && *line == " ") line->clear();
    message += *line;
    const bool submit = mark == '/' || !ended || (mark == '\\') == multiline_;
    if (submit) return message;
    message += '\n';
  }
}

std::string read_all_input() {
  std::string text;
  char buffer[65536];
  size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0) text.append(buffer, n);
  if (std::ferror(stdin) == 0) return text;
  if (interrupts() > 0) fail(ErrorCode::cancelled, "interrupted");
  fail(ErrorCode::io, "cannot read standard input: {}", std::strerror(errno));
}

ProgressBar::ProgressBar(std::string label, bool enabled)
    : label_(std::move(label)), enabled_(enabled && is_terminal(kErrors)) {}

void ProgressBar::update(double fraction) {
  const int percent = static_cast<int>(fraction * 100.0);
  if (!enabled_ || percent == shown_percent_) return;
  shown_percent_ = percent;
  const int width = std::max(10, std::min(40, terminal_width(kErrors) - static_cast<int>(label_.size()) - 10));
  const int filled = width * percent / 100;
  fmt::print(stderr, "\r{} [{}{}] {:3}%", label_, std::string(static_cast<size_t>(filled), '#'),
             std::string(static_cast<size_t>(width - filled), '.'), percent);
  std::fflush(stderr);
}

void ProgressBar::finish() {
  if (!enabled_ || shown_percent_ < 0) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_percent_ = -1;
}

}  // namespace brisk::cli
