#pragma once

#include "cli/options.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace brisk::cli {

enum class Kind : uint8_t {
  flag,     ///< no value; sets
  toggle,   ///< no value; `names` set, `negatives` clear
  integer,  ///< the leading number of the value counts: 12abc is 12
  number,
  text,
  choice,  ///< one of `choices`
  on_off,  ///< on/off/auto and their synonyms; without a value: on (as in 2024)
  pair,    ///< two values
};

/// A value on its way into Options.
struct OptionValue {
  std::string_view name;  ///< the spelling in use, or the environment variable
  bool on = true;
  Switch state = Switch::on;
  int64_t integer = 0;
  double number = 0.0;
  std::string_view text;
  std::string_view second;
};

using Setter = void (*)(Options&, const OptionValue&);

/// One option: everything that parsing, help, documentation and completion need. An option without a setter is known
/// and refused by name.
struct OptionRow {
  std::string_view names;  ///< all spellings, blank-separated
  Kind kind = Kind::flag;
  std::string_view hint{};       ///< the value in help
  std::string_view env{};        ///< name of the environment variable
  std::string_view who = "all";  ///< programs, blank-separated; "all" = every parser-based one
  std::string_view help{};
  Setter set = nullptr;
  std::string_view negatives{};  ///< spellings of a toggle that clear
  std::string_view choices{};
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
  bool repeatable = false;  ///< values accumulate; otherwise a second one is warned about
};

struct OptionSection {
  std::string_view title;
  std::span<const OptionRow> rows;
};

std::span<const OptionSection> option_sections();

// One file each, in the order of the sections.
std::span<const OptionRow> general_options();
std::span<const OptionRow> cpu_options();
std::span<const OptionRow> context_options();
std::span<const OptionRow> chat_options();
std::span<const OptionRow> model_options();
std::span<const OptionRow> device_options();
std::span<const OptionRow> sampling_options();
std::span<const OptionRow> speculative_options();
std::span<const OptionRow> server_options();
std::span<const OptionRow> program_options();

/// Whether `row` is an option of the program with that code ("cp", "cli", "run", ...).
bool belongs_to(const OptionRow& row, std::string_view program);

/// Whether the blank-separated `list` has `word`.
bool has_word(std::string_view list, std::string_view word);

// Setters that only store.
template <auto Member>
void set_flag(Options& options, const OptionValue& value) {
  options.*Member = value.on;
}
template <auto Member>
void set_switch(Options& options, const OptionValue& value) {
  options.*Member = value.state;
}
template <auto Member>
void set_int(Options& options, const OptionValue& value) {
  options.*Member = static_cast<int32_t>(value.integer);
}
template <auto Member>
void set_text(Options& options, const OptionValue& value) {
  options.*Member = std::string(value.text);
}
template <auto Part, auto Member>
void set_part_int(Options& options, const OptionValue& value) {
  options.*Part.*Member = static_cast<int32_t>(value.integer);
}
template <auto Part, auto Member>
void set_part_float(Options& options, const OptionValue& value) {
  options.*Part.*Member = static_cast<float>(value.number);
}
template <auto Part, auto Member>
void set_part_flag(Options& options, const OptionValue& value) {
  options.*Part.*Member = value.on;
}

}  // namespace brisk::cli
