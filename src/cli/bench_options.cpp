#include "cli/bench_options.hpp"

#include "base/error.hpp"
#include "cli/option_parser.hpp"
#include "cli/option_table.hpp"
#include "cpu/topology.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace brisk::cli {
namespace {

/// An option that is no setting. Without a hint it takes no value, without a setter it is known and refused by name.
struct BenchOptionRow {
  std::string_view names;
  std::string_view hint{};
  std::string_view help{};
  void (*set)(BenchCommand& command, std::string_view text) = nullptr;
  enum class Who : uint8_t { all, brisk } who = Who::all;
};

int32_t number_between(std::string_view text, int64_t least, int64_t most) {
  const std::vector<int64_t> values = parse_number_list(text, least);
  if (values.size() != 1 || values[0] > most) fail(ErrorCode::invalid_argument, "{} to {}", least, most);
  return static_cast<int32_t>(values[0]);
}

template <bool BenchCommand::*Member, bool kValue = true>
void set_to(BenchCommand& command, std::string_view /*text*/) {
  command.*Member = kValue;
}

template <const tools::BenchFormat* BenchCommand::*Member>
void set_format(BenchCommand& command, std::string_view text) {
  command.*Member = tools::find_bench_format(text);
  if (command.*Member == nullptr) fail(ErrorCode::invalid_argument, "csv, json, jsonl, md, sql or none");
}

template <std::vector<int32_t> BenchCommand::*Member>
void add_numbers(BenchCommand& command, std::string_view text) {
  for (const int64_t value : parse_number_list(text, 0)) (command.*Member).push_back(static_cast<int32_t>(value));
}

void add_pair(BenchCommand& command, std::string_view text) {
  const std::vector<int64_t> values = parse_number_list(text, 0);
  if (values.size() != 2) fail(ErrorCode::invalid_argument, "two numbers: PP,TG");
  command.pairs.emplace_back(static_cast<int32_t>(values[0]), static_cast<int32_t>(values[1]));
}

constexpr int64_t kMostRepetitions = 1'000'000;
constexpr int64_t kLongestDelay = 86'400;

constexpr BenchOptionRow kOptions[] = {
    {"-h --help", "", "", set_to<&BenchCommand::help>},
    {"--version", "", "show version and build info", set_to<&BenchCommand::version>},
    {"--numa", "<distribute|isolate|numactl>", "numa mode (default: disabled)",
     [](BenchCommand&, std::string_view text) {
       fail(ErrorCode::unsupported, "--numa {} is not supported yet", text);
     }},
    {"-r --repetitions", "<n>", "number of times to repeat each test (default: 5)",
     [](BenchCommand& c, std::string_view text) { c.repetitions = number_between(text, 1, kMostRepetitions); }},
    {"--prio", "<-1|0|1|2|3>", "process/thread priority (default: 0)",
     [](BenchCommand& c, std::string_view text) { c.priority = number_between(text, -1, 3); }},
    {"--delay", "<0...N> (seconds)", "delay between each test (default: 0)",
     [](BenchCommand& c, std::string_view text) { c.delay_s = number_between(text, 0, kLongestDelay); }},
    {"-o --output", "<csv|json|jsonl|md|sql|none>", "format on standard output (default: md)",
     set_format<&BenchCommand::output>},
    {"-oe --output-err", "<csv|json|jsonl|md|sql|none>", "format on standard error (default: none)",
     set_format<&BenchCommand::output_errors>},
    {"--list-devices", "", "list the devices", set_to<&BenchCommand::list_devices>},
    {"-v --verbose", "", "tell about the model", set_to<&BenchCommand::verbose>},
    {"--progress", "", "tell on standard error what is being measured", set_to<&BenchCommand::progress>},
    {"--no-warmup", "", "no run before the measurement", set_to<&BenchCommand::warmup, false>},
    {"-rpc --rpc", "<servers>", "remote devices"},
    {"-hf -hfr --hf-repo", "<user>/<model>[:quant]", "a model to download"},
    {"-hff --hf-file", "<file>", "its file"},
    {"-hft --hf-token", "<token>", "the token for it"},
    {"--offline", "", "no downloads"},
    {"--median", "", "the median of the repetitions, too", set_to<&BenchCommand::median>, BenchOptionRow::Who::brisk},
    {"--limits", "", "measure what the machine can do and print each result's share of it",
     set_to<&BenchCommand::limits>, BenchOptionRow::Who::brisk},
};

constexpr BenchOptionRow kTests[] = {
    {"-p --n-prompt", "<n>", "tokens of a prompt (default: 512)", add_numbers<&BenchCommand::n_prompt>},
    {"-n --n-gen", "<n>", "tokens to generate (default: 128)", add_numbers<&BenchCommand::n_gen>},
    {"-pg", "<pp,tg>", "a prompt and a generation behind it, timed together (default: none)", add_pair},
};

/// The spelling to look up: '_' counts as '-' in names that begin with "--".
std::string spelling_of(std::string_view word) {
  std::string name(word);
  if (name.starts_with("--")) std::ranges::replace(name, '_', '-');
  return name;
}

const BenchOptionRow* find_option_row(std::string_view name, bool native) {
  for (const std::span<const BenchOptionRow> rows : {std::span<const BenchOptionRow>(kOptions), {kTests}}) {
    for (const BenchOptionRow& row : rows) {
      if (has_word(row.names, name) && (native || row.who == BenchOptionRow::Who::all)) return &row;
    }
  }
  return nullptr;
}

void set_list(BenchCommand& command, const BenchSettingRow& row, std::string_view text) {
  const auto index = static_cast<size_t>(row.setting);
  std::vector<std::string> values = row.parse(row, text);
  if (row.replaces || !command.listed[index]) command.lists[index].clear();
  command.listed[index] = true;
  std::ranges::move(values, std::back_inserter(command.lists[index]));
}

[[noreturn]] void refuse(std::string_view option, std::string_view why) {
  // Scripts read the last line; llama-bench tells the reason for numbers only.
  std::string text;
  if (!why.empty()) text = fmt::format("error: {}\n", why);
  throw UsageError(ErrorCode::invalid_argument,
                   fmt::format("{}error: invalid parameter for argument: {}\n", text, option));
}

/// Spellings of 2023 to 2025: "--mmap 0" is "-lm none". llama-bench has dropped them.
bool set_old_spelling(BenchCommand& command, std::string_view name, std::string_view value) {
  if (!has_word("-mmp --mmap", name) || !has_word("0 1", value)) return false;
  set_list(command, row_of(BenchSetting::load_mode), value == "0" ? "none" : "mmap");
  return true;
}

/// One option; returns how many words it took.
size_t parse_one(BenchCommand& command, std::span<const std::string> args) {
  const std::string name = spelling_of(args[0]);
  const BenchOptionRow* option = find_option_row(name, command.native);
  if (option != nullptr && option->set == nullptr) {
    refuse(args[0], fmt::format("{} is not supported yet", args[0]));
  }
  if (option != nullptr && option->hint.empty()) {
    option->set(command, {});
    return 1;
  }
  const auto setting =
      std::ranges::find_if(bench_settings(), [&](const BenchSettingRow& row) { return has_word(row.names, name); });
  const bool is_setting = setting != bench_settings().end();
  if (args.size() < 2) refuse(args[0], "");
  if (option == nullptr && !is_setting) {
    if (command.native && set_old_spelling(command, name, args[1])) return 2;
    refuse(args[0], "");
  }
  try {
    option != nullptr ? option->set(command, args[1]) : set_list(command, *setting, args[1]);
  } catch (const Error& error) {
    const std::string_view why = error.what();
    const bool told = command.native || error.code() == ErrorCode::unsupported || why.starts_with("invalid range");
    refuse(args[0], told ? why : "");
  }
  return 2;
}

void fill_defaults(BenchCommand& command) {
  for (const BenchSettingRow& row : bench_settings()) {
    auto& list = command.lists[static_cast<size_t>(row.setting)];
    if (list.empty()) list = {std::string(row.standard)};
  }
  auto& threads = command.lists[static_cast<size_t>(BenchSetting::threads)];
  if (threads.front().empty()) threads = {std::to_string(cpu::default_thread_count())};
  if (command.n_prompt.empty()) command.n_prompt = {512};
  if (command.n_gen.empty()) command.n_gen = {128};
  if (command.output == nullptr) command.output = tools::find_bench_format("md");
  if (command.output_errors == nullptr) command.output_errors = tools::find_bench_format("none");
}

std::string joined_names(std::string_view names) {
  std::string out(names);
  for (size_t at = 0; (at = out.find(' ', at)) != std::string::npos; at += 2) out.replace(at, 1, ", ");
  return out;
}

std::string usage_line(std::string_view names, std::string_view hint, std::string_view help) {
  const std::string left = fmt::format("{}{}{}", joined_names(names), hint.empty() ? "" : " ", hint);
  return help.empty() ? fmt::format("  {}\n", left) : fmt::format("  {:<43} {}\n", left, help);
}

std::string help_of(const BenchOptionRow& row) {
  return fmt::format("{}{}", row.help, row.set == nullptr ? " (not supported yet)" : "");
}

std::string default_of(const BenchSettingRow& row) {
  if (row.setting == BenchSetting::threads) return "(default: physical cores)";
  return fmt::format("(default: {})", row.setting == BenchSetting::flash_attention ? "auto" : row.standard);
}

std::string markdown_line(std::string_view names, std::string_view hint, std::string_view help) {
  std::string spellings;
  for (std::string rest(names); !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    spellings += fmt::format("{}`{}`", spellings.empty() ? "" : " ", rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  std::string escaped;
  for (const char c : hint) escaped += c == '|' ? "\\|" : std::string(1, c);
  return fmt::format("| {} | {} | {} |\n", spellings, escaped, help);
}

}  // namespace

BenchCommand parse_bench(std::span<const std::string> args, bool native) {
  BenchCommand command;
  command.native = native;
  while (!args.empty() && !command.help && !command.version && !command.list_devices) {
    args = args.subspan(parse_one(command, args));
  }
  fill_defaults(command);
  return command;
}

std::vector<BenchCombination> bench_combinations(const BenchLists& lists) {
  constexpr size_t kMostCombinations = 100'000;
  std::vector<BenchCombination> out(1);
  for (size_t i = 0; i < lists.size(); ++i) {
    std::vector<BenchCombination> longer;
    for (const BenchCombination& prefix : out) {
      for (const std::string& value : lists[i]) {
        longer.push_back(prefix);
        longer.back()[i] = value;
      }
    }
    if (longer.size() > kMostCombinations) {
      throw UsageError(ErrorCode::invalid_argument,
                       fmt::format("error: more than {} combinations of test parameters\n", kMostCombinations));
    }
    out = std::move(longer);
  }
  return out;
}

std::vector<tools::BenchTest> bench_tests(const BenchCommand& command, int32_t depth) {
  std::vector<tools::BenchTest> out;
  for (const int32_t n : command.n_prompt) {
    if (n > 0) out.push_back({n, 0, depth});
  }
  for (const int32_t n : command.n_gen) {
    if (n > 0) out.push_back({0, n, depth});
  }
  for (const auto& [n_prompt, n_gen] : command.pairs) {
    if (n_prompt + n_gen > 0) out.push_back({n_prompt, n_gen, depth});
  }
  return out;
}

std::string bench_usage(const std::string& called_as, bool native) {
  std::string out = fmt::format("usage: {} [options]\n\noptions:\n", called_as);
  for (const BenchOptionRow& row : kOptions) {
    if (native || row.who == BenchOptionRow::Who::all) out += usage_line(row.names, row.hint, help_of(row));
  }
  out += "\ntest parameters:\n";
  for (const BenchOptionRow& row : kTests) out += usage_line(row.names, row.hint, help_of(row));
  for (const BenchSettingRow& row : bench_settings()) out += usage_line(row.names, row.hint, default_of(row));
  return out +
         "\nTest parameters take lists (1,2) and may be given again; numbers also ranges: first-last, "
         "first-last+step,\n"
         "first-last*factor. Every combination is measured.\n";
}

std::string bench_options_markdown() {
  std::string out =
      "\n## bench\n\n"
      "`brisk bench` (and `llama-bench`) has a parser of its own: test parameters take comma lists and may be given "
      "again, numbers also\nranges (`first-last`, `first-last+step`, `first-last*factor`). See "
      "[bench.md](bench.md).\n\n"
      "| option | value | meaning |\n|---|---|---|\n";
  for (const BenchOptionRow& row : kOptions) {
    const std::string who = row.who == BenchOptionRow::Who::brisk ? " (`brisk bench` only)" : "";
    out += markdown_line(row.names, row.hint, row.help.empty() ? "show all options" : help_of(row) + who);
  }
  for (const BenchOptionRow& row : kTests) out += markdown_line(row.names, row.hint, row.help);
  for (const BenchSettingRow& row : bench_settings()) {
    out += markdown_line(row.names, row.hint, fmt::format("test parameter {}", default_of(row)));
  }
  return out;
}

}  // namespace brisk::cli
