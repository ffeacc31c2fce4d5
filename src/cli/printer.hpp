#pragma once

#include "cli/log.hpp"
#include "cli/terminal.hpp"

#include <string_view>

namespace brisk::cli {

/// The program's text on standard output, coloured by what it is when colour is on.
class Printer {
 public:
  Printer(Log& log, Switch color)
      : log_(log), color_(color == Switch::on || (color == Switch::automatic && on_terminal())) {}
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;
  ~Printer() { set(Style::reset); }

  void set(Style style) {
    if (!color_ || style == style_) return;
    if (style_ != Style::reset) log_.output(style_code(Style::reset));
    if (style != Style::reset) log_.output(style_code(style));
    style_ = style;
  }
  void text(std::string_view text) { log_.output(text); }
  void text(Style style, std::string_view text) {
    set(style);
    log_.output(text);
    set(Style::reset);
  }

 private:
  static bool on_terminal() { return wants_color(kOutput); }

  Log& log_;
  bool color_;
  Style style_ = Style::reset;
};

}  // namespace brisk::cli
