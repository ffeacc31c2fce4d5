#include "cli/option_help.hpp"

#include "cli/bench_options.hpp"
#include "cli/program_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace brisk::cli {
namespace {

constexpr size_t kTextColumn = 40;
constexpr size_t kTextWidth = 70;

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (end > 0) out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

std::vector<std::string> wrapped(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const std::string_view word : words(text)) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kTextWidth) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string names_column(const OptionRow& row) {
  std::vector<std::string_view> names = words(row.names);
  const std::vector<std::string_view> negatives = words(row.negatives);
  names.insert(names.end(), negatives.begin(), negatives.end());
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    const std::string name = std::string(names[i]) + (last ? "" : ",");
    out += i == 0 && !last ? fmt::format("{:<7}", name) : name;
    if (!last && out.back() != ' ') out += ' ';
  }
  if (!row.hint.empty()) out += fmt::format(" {}", row.hint);
  return out;
}

std::string text_of(const OptionRow& row) {
  std::string text(row.help);
  if (row.set == nullptr) text += " (not supported yet)";
  return text;
}

// Pipes would end a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string code_list(std::string_view list) {
  std::string out;
  for (const std::string_view word : words(list)) out += fmt::format("{}`{}`", out.empty() ? "" : " ", word);
  return out;
}

std::string markdown_row(const OptionRow& row) {
  std::string names = code_list(row.names);
  if (!row.negatives.empty()) names += " / " + code_list(row.negatives);
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", names, cell(row.hint),
                     row.env.empty() ? "" : fmt::format("`{}`", row.env), program_names(row.who),
                     row.set == nullptr ? "not yet" : "yes", cell(row.help));
}

void append_section(std::string& out, std::string_view title, const std::string& body) {
  if (!body.empty()) out += fmt::format("----- {} -----\n\n{}\n", title, body);
}

}  // namespace

std::string option_usage(const OptionRow& row) {
  std::string out = names_column(row);
  std::vector<std::string> lines = wrapped(text_of(row));
  if (!row.env.empty()) lines.push_back(fmt::format("(env: {})", row.env));
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool beside = i == 0 && out.size() < kTextColumn - 2;
    out += beside ? std::string(kTextColumn - out.size(), ' ') : "\n" + std::string(kTextColumn, ' ');
    out += lines[i];
  }
  return out + "\n";
}

std::string option_help(std::string_view program) {
  if (program == "bench") return bench_usage("brisk bench", true);
  std::string common;
  std::string sampling;
  std::string speculative;
  std::string specific;
  for (const auto& section : option_sections()) {
    for (const auto& row : section.rows) {
      if (!belongs_to(row, program)) continue;
      std::string& target = section.title == "sampling"               ? sampling
                            : section.title == "speculative decoding" ? speculative
                            : has_word(row.who, "all")                ? common
                                                                      : specific;
      target += option_usage(row);
    }
  }
  std::string out;
  append_section(out, "common params", common);
  append_section(out, "sampling params", sampling);
  append_section(out, "speculative params", speculative);
  append_section(out, "example-specific params", specific);
  return out;
}

std::string options_markdown() {
  std::string out =
      "# Options\n\n"
      "Made from the option table by `brisk help --markdown`; a test keeps this page and the table equal.\n\n"
      "Precedence, lowest first: defaults, environment, command line. In names that begin with `--`, `_` counts as "
      "`-`. A "
      "value is\nthe next word, whatever it looks like. The leading number of a numeric value counts: `12abc` is 12. "
      "Switches take\n"
      "`on`, `off` or `auto` (also `true false 1 0 enabled disabled -1`); without a value they are on. A variable\n"
      "`LLAMA_ARG_NO_X`, whatever its value, switches X off. An option that is \"not yet\" supported is refused by "
      "name.\n\n"
      "Programs: the subcommand of brisk, or llama.cpp's name for it; *all* are the programs that share this table.\n";
  for (const auto& section : option_sections()) {
    out += fmt::format(
        "\n## {}\n\n| option | value | environment | programs | supported | meaning |\n|---|---|---|---|---|---|\n",
        section.title);
    for (const auto& row : section.rows) out += markdown_row(row);
  }
  return out + bench_options_markdown();
}

std::string completion_script() {
  std::string options;
  for (const auto& section : option_sections()) {
    for (const auto& row : section.rows) {
      if (row.set == nullptr) continue;
      for (const std::string_view list : {row.names, row.negatives}) {
        for (const std::string_view name : words(list)) options += fmt::format(" {}", name);
      }
    }
  }
  std::string out = fmt::format(
      "_brisk_completions() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  case \"$prev\" in\n"
      "    --model|-m) COMPREPLY=( $(compgen -f -X '!*.gguf' -- \"$cur\") $(compgen -d -- \"$cur\") ) ;;\n"
      "    --grammar-file) COMPREPLY=( $(compgen -f -X '!*.gbnf' -- \"$cur\") $(compgen -d -- \"$cur\") ) ;;\n"
      "    --chat-template-file) COMPREPLY=( $(compgen -f -X '!*.jinja' -- \"$cur\") $(compgen -d -- \"$cur\") ) ;;\n"
      "    *) COMPREPLY=( $(compgen -W \"{}\" -- \"$cur\") ) ;;\n"
      "  esac\n}}\n",
      options.substr(1));
  for (const auto& program : program_list()) {
    for (const std::string_view name : words(program.aliases)) {
      if (program.run != nullptr) out += fmt::format("complete -F _brisk_completions {}\n", name);
    }
  }
  return out + "complete -F _brisk_completions brisk\n";
}

}  // namespace brisk::cli
