#include "cli/option_parser.hpp"

#include "cli/edit_distance.hpp"
#include "cli/option_help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <set>

namespace brisk::cli {
namespace {

std::optional<bool> boolean(std::string_view text) {
  if (has_word("on enabled true 1", text)) return true;
  if (has_word("off disabled false 0", text)) return false;
  return std::nullopt;
}

std::optional<Switch> switch_state(std::string_view text) {
  if (has_word("auto -1", text)) return Switch::automatic;
  const auto on = boolean(text);
  if (!on) return std::nullopt;
  return *on ? Switch::on : Switch::off;
}

void check_range(const OptionRow& row, double value) {
  if (value >= row.min && value <= row.max) return;
  if (!std::isfinite(value)) fail(ErrorCode::invalid_argument, "must be a finite number, not {}", value);
  if (value > row.max && row.min <= INT32_MIN) {
    fail(ErrorCode::invalid_argument, "must be at most {}, not {}", row.max, value);
  }
  if (value < row.min && row.max >= INT32_MAX) {
    fail(ErrorCode::invalid_argument, "must be at least {}, not {}", row.min, value);
  }
  fail(ErrorCode::invalid_argument, "must be between {} and {}, not {}", row.min, row.max, value);
}

int64_t integer(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str()) fail(ErrorCode::invalid_argument, "stoi: '{}' is not an integer", text);
  if (errno == ERANGE) fail(ErrorCode::invalid_argument, "stoi: '{}' is too large", text);
  return value;
}

double number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) fail(ErrorCode::invalid_argument, "stof: '{}' is not a number", text);
  return value;
}

// The spelling that people know: the first long one, else the first.
std::string_view main_name(const OptionRow& row) {
  std::string_view names = row.names;
  std::string_view best = names.substr(0, names.find(' '));
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.starts_with("--")) return names.substr(0, end);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return best;
}

// Fills the typed fields of `value` from its text and stores it.
void convert_and_set(const OptionRow& row, OptionValue value, Options& options) {
  const std::string text(value.text);
  switch (row.kind) {
    case Kind::integer:
      value.integer = integer(text);
      check_range(row, static_cast<double>(value.integer));
      break;
    case Kind::number:
      value.number = number(text);
      check_range(row, value.number);
      break;
    case Kind::choice:
      if (!has_word(row.choices, text)) fail(ErrorCode::invalid_argument, "invalid value");
      break;
    case Kind::on_off: {
      const auto state = switch_state(text);
      if (!state) fail(ErrorCode::invalid_argument, "error: unknown value for {}: '{}'\n", main_name(row), text);
      value.state = *state;
      break;
    }
    default:
      break;
  }
  row.set(options, value);
  options.given.emplace_back(main_name(row));
}

class Parser {
 public:
  Parser(std::span<const std::string> args, const ParseContext& context, Options defaults)
      : args_(args), context_(context), options_(std::move(defaults)) {}

  Options run() {
    read_environment();
    while (next_ < args_.size() && !asks_for_information()) read_argument();
    if (options_.escape && !asks_for_information()) process_escapes();
    return std::move(options_);
  }

 private:
  [[nodiscard]] bool asks_for_information() const {
    return options_.help || options_.version || options_.list_devices || options_.completion_bash;
  }

  void read_environment() {
    if (!context_.environment) return;
    for (const auto& section : option_sections()) {
      for (const auto& row : section.rows) {
        if (!row.env.empty() && belongs_to(row, context_.program)) read_variable(row);
      }
    }
  }

  void read_variable(const OptionRow& row) {
    const std::string name(row.env);
    constexpr std::string_view kPrefix = "LLAMA_ARG_";
    const bool prefixed = name.starts_with(kPrefix);
    const std::string no_name = prefixed ? "LLAMA_ARG_NO_" + name.substr(kPrefix.size()) : "";
    // A variable LLAMA_ARG_NO_X, whatever its value, switches X off and wins.
    if (row.kind == Kind::toggle && prefixed && context_.environment(no_name)) {
      set_from_environment(row, {.name = no_name, .on = false, .text = {}, .second = {}});
      return;
    }
    const auto text = context_.environment(name);
    // Tokens for hubs lie in many environments, whatever the program; they matter once something is downloaded.
    if (!text || (row.set == nullptr && !prefixed)) return;
    OptionValue value{.name = name, .text = *text, .second = {}};
    if (row.kind == Kind::flag || row.kind == Kind::toggle) {
      const auto on = boolean(*text);
      if (!on) fail_variable(name, fmt::format("'{}' is neither true nor false", *text));
      if (row.kind == Kind::flag && !*on) return;
      value.on = *on;
    }
    set_from_environment(row, value);
  }

  void set_from_environment(const OptionRow& row, const OptionValue& value) {
    from_environment_.insert(&row);
    if (row.set == nullptr) {
      throw UsageError(ErrorCode::unsupported,
                       fmt::format("error: {} ({}) is not supported yet\n", value.name, main_name(row)));
    }
    try {
      convert_and_set(row, value, options_);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      fail_variable(value.name, error.what());
    }
  }

  [[noreturn]] static void fail_variable(std::string_view name, std::string_view why) {
    throw UsageError(ErrorCode::invalid_argument,
                     fmt::format("error while handling environment variable \"{}\": {}\n\n", name, why));
  }

  void read_argument() {
    const std::string& arg = args_[next_++];
    const OptionRow* row = find_option(arg, context_.program);
    if (row == nullptr) {
      if (context_.positional && !arg.starts_with("-")) {
        options_.positional.push_back(arg);
        return;
      }
      refuse_unknown(arg);
    }
    warn_about_repeats(*row, arg);
    if (row->set == nullptr) {
      throw UsageError(ErrorCode::unsupported,
                       fmt::format("error: {} is not supported yet by this version of brisk\n", arg));
    }
    try {
      read_values(*row, arg);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      fail_option(*row, arg, error);
    }
  }

  void read_values(const OptionRow& row, const std::string& arg) {
    OptionValue value{.name = arg, .text = {}, .second = {}};
    if (row.kind == Kind::flag || row.kind == Kind::toggle) {
      std::string spelling = arg;
      if (spelling.starts_with("--")) std::replace(spelling.begin(), spelling.end(), '_', '-');
      value.on = !has_word(row.negatives, spelling);
      row.set(options_, value);
      options_.given.emplace_back(main_name(row));
      return;
    }
    // In 2024 these were flags; a following option or the end means that they still are.
    if (row.kind == Kind::on_off && (next_ == args_.size() || is_option(args_[next_]))) {
      value.text = "on";
    } else {
      value.text = take_value();
    }
    if (row.kind == Kind::pair) value.second = take_value();
    convert_and_set(row, value, options_);
  }

  [[nodiscard]] static bool is_option(std::string_view word) { return word.starts_with("-") && word != "-1"; }

  std::string_view take_value() {
    if (next_ == args_.size()) fail(ErrorCode::invalid_argument, "expected value for argument");
    return args_[next_++];
  }

  void warn_about_repeats(const OptionRow& row, const std::string& arg) {
    if (from_environment_.contains(&row) && !seen_.contains(&row)) {
      options_.notices.push_back(fmt::format(
          "warn: {} environment variable is set, but will be overwritten by command line argument {}", row.env, arg));
    }
    const bool takes_value = row.kind != Kind::flag && row.kind != Kind::toggle;
    if (!seen_.insert(&row).second && takes_value && !row.repeatable) {
      options_.warnings.push_back(fmt::format(
          "DEPRECATED: argument '{}' specified multiple times, use comma-separated values instead (only last value "
          "will be used)",
          arg));
    }
  }

  [[noreturn]] void refuse_unknown(const std::string& arg) const {
    std::string text = fmt::format("error: invalid argument: {}\n", arg);
    const std::string near = nearest_option(arg, context_.program);
    if (!near.empty()) text += fmt::format("did you mean {}?\n", near);
    throw UsageError(ErrorCode::invalid_argument, text);
  }

  [[noreturn]] static void fail_option(const OptionRow& row, const std::string& arg, const Error& error) {
    throw UsageError(
        error.code(),
        fmt::format("error while handling argument \"{}\": {}\n\nusage:\n{}\n\nto show complete usage, run "
                    "with -h\n",
                    arg, error.what(), option_usage(row)));
  }

  void process_escapes() {
    options_.prompt = unescape(options_.prompt);
    options_.raw_file_prompt = unescape(options_.raw_file_prompt);
    options_.in_prefix = unescape(options_.in_prefix);
    options_.in_suffix = unescape(options_.in_suffix);
    for (auto& text : options_.reverse_prompts) text = unescape(text);
  }

  std::span<const std::string> args_;
  const ParseContext& context_;
  Options options_;
  size_t next_ = 0;
  std::set<const OptionRow*> seen_;
  std::set<const OptionRow*> from_environment_;
};

void each_spelling(const OptionRow& row, const std::function<void(std::string_view)>& visit) {
  for (std::string_view list : {row.names, row.negatives}) {
    while (!list.empty()) {
      const size_t end = std::min(list.find(' '), list.size());
      visit(list.substr(0, end));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }
}

std::optional<unsigned> hex_byte(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const std::string digits(text.substr(0, 2));
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return std::nullopt;
  return static_cast<unsigned>(std::strtoul(digits.c_str(), nullptr, 16));
}

}  // namespace

Options parse_options(std::span<const std::string> args, const ParseContext& context, Options defaults) {
  return Parser(args, context, std::move(defaults)).run();
}

const OptionRow* find_option(std::string_view spelling, std::string_view program) {
  std::string name(spelling);
  if (name.starts_with("--")) std::replace(name.begin(), name.end(), '_', '-');
  if (!name.starts_with("-") || name.find(' ') != std::string::npos) return nullptr;
  for (const auto& section : option_sections()) {
    for (const auto& row : section.rows) {
      const bool hit = has_word(row.names, name) || has_word(row.negatives, name);
      if (hit && belongs_to(row, program)) return &row;
    }
  }
  return nullptr;
}

std::string nearest_option(std::string_view unknown, std::string_view program) {
  const std::string_view name = unknown.substr(0, unknown.find('='));
  if (find_option(name, program) != nullptr) return std::string(name) + " with its value as the next word";
  std::string best;
  size_t best_distance = too_far_from(name);
  for (const auto& section : option_sections()) {
    for (const auto& row : section.rows) {
      if (!belongs_to(row, program)) continue;
      each_spelling(row, [&](std::string_view spelling) {
        const size_t distance = edit_distance(name, spelling);
        if (distance >= best_distance) return;
        best_distance = distance;
        best = spelling;
      });
    }
  }
  return best;
}

std::string unescape(std::string_view text) {
  constexpr std::string_view kPlain = "n\nr\rt\t''\"\"\\\\";
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[i + 1];
    size_t pair = 0;
    while (pair < kPlain.size() && kPlain[pair] != next) pair += 2;
    const auto hex = next == 'x' ? hex_byte(text.substr(i + 2)) : std::nullopt;
    if (pair < kPlain.size()) {
      out += kPlain[pair + 1];
      i += 1;
    } else if (hex) {
      out += static_cast<char>(*hex);
      i += 3;
    } else {
      out += '\\';
    }
  }
  return out;
}

}  // namespace brisk::cli
