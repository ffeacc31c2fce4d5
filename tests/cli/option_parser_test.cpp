#include "cli/option_parser.hpp"

#include "cli/option_help.hpp"
#include "cli/option_setters.hpp"
#include "cli/program_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace brisk::cli {
namespace {

using Variables = std::map<std::string, std::string>;

Options parse(const std::vector<std::string>& args, std::string_view program = "run", const Variables& variables = {}) {
  const ParseContext context{program, false, [&](const std::string& name) -> std::optional<std::string> {
                               const auto it = variables.find(name);
                               if (it == variables.end()) return std::nullopt;
                               return it->second;
                             }};
  return parse_options(args, context);
}

std::string message_of(const std::vector<std::string>& args, std::string_view program = "run",
                       const Variables& variables = {}) {
  try {
    (void)parse(args, program, variables);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(OptionParser, ValuesOfEveryKind) {
  const Options o = parse({"-n", "12", "--temp", "0.5", "-m", "a.gguf", "--no-mmap", "-fa", "on", "--color", "off"});
  EXPECT_EQ(o.n_predict, 12);
  EXPECT_FLOAT_EQ(o.sampling.temperature, 0.5F);
  EXPECT_EQ(o.model, "a.gguf");
  EXPECT_FALSE(o.mmap);
  EXPECT_EQ(o.color, Switch::off);
}

TEST(OptionParser, UnderscoresInLongNames) {
  EXPECT_EQ(parse({"--ctx_size", "77"}).n_ctx, 77);
  EXPECT_FALSE(parse({"--no_display_prompt"}).display_prompt);
}

TEST(OptionParser, LeadingNumberCounts) { EXPECT_EQ(parse({"-n", "3abc"}).n_predict, 3); }

TEST(OptionParser, ValueIsTakenBlindly) { EXPECT_EQ(parse({"-p", "--temp"}).prompt, "--temp"); }

TEST(OptionParser, LastOneWinsWithAWarning) {
  const Options o = parse({"-n", "5", "-n", "3"});
  EXPECT_EQ(o.n_predict, 3);
  ASSERT_EQ(o.warnings.size(), 1U);
  EXPECT_EQ(o.warnings[0],
            "DEPRECATED: argument '-n' specified multiple times, use comma-separated values instead (only last value "
            "will be used)");
}

TEST(OptionParser, RepeatableOptionsAccumulateSilently) {
  const Options o = parse({"-r", "A", "-r", "B", "-l", "3+1.5", "-l", "4-inf"});
  EXPECT_EQ(o.reverse_prompts, (std::vector<std::string>{"A", "B"}));
  ASSERT_EQ(o.sampling.logit_bias.size(), 2U);
  EXPECT_EQ(o.sampling.logit_bias[0], (sampling::LogitBias{3, 1.5F}));
  EXPECT_TRUE(std::isinf(o.sampling.logit_bias[1].bias) && o.sampling.logit_bias[1].bias < 0);
  EXPECT_TRUE(o.warnings.empty());
}

TEST(OptionParser, SwitchWithoutAValueIsOn) {
  EXPECT_EQ(parse({"--color"}).color, Switch::on);
  EXPECT_EQ(parse({"--color", "-n", "2"}).n_predict, 2);
  EXPECT_EQ(parse({"--color", "-1"}).color, Switch::automatic);
}

TEST(OptionParser, EscapesAreProcessedWhateverTheOrder) {
  EXPECT_EQ(parse({"-p", "a\\nb\\x41\\q"}).prompt, "a\nbA\\q");
  EXPECT_EQ(parse({"-p", "a\\nb", "--no-escape"}).prompt, "a\\nb");
  EXPECT_EQ(parse({"--no-escape", "-e", "-r", "\\t"}).reverse_prompts[0], "\t");
  EXPECT_EQ(parse({"-sys", "a\\nb"}).system_prompt, "a\\nb");
}

TEST(OptionParser, Unescape) {
  EXPECT_EQ(unescape("\\\\n"), "\\n");
  EXPECT_EQ(unescape("\\'\\\"\\r"), "'\"\r");
  EXPECT_EQ(unescape("\\x4"), "\\x4");
  EXPECT_EQ(unescape("\\xzz"), "\\xzz");
  EXPECT_EQ(unescape("end\\"), "end\\");
}

TEST(OptionParser, UnknownOptionNamesTheNearestOne) {
  EXPECT_EQ(message_of({"--nope"}), "error: invalid argument: --nope\n");
  EXPECT_EQ(message_of({"--tmep", "1"}), "error: invalid argument: --tmep\ndid you mean --temp?\n");
  // Known, though not supported yet: using it then says so.
  EXPECT_EQ(message_of({"--grammer", "x"}), "error: invalid argument: --grammer\ndid you mean --grammar?\n");
  EXPECT_EQ(message_of({"--n-predict=4"}),
            "error: invalid argument: --n-predict=4\ndid you mean --n-predict with its value as the next word?\n");
  EXPECT_TRUE(contains(message_of({"word"}), "invalid argument: word"));
}

TEST(OptionParser, OptionsOfOtherProgramsAreUnknown) {
  EXPECT_TRUE(contains(message_of({"--port", "1"}, "cp"), "invalid argument: --port"));
  EXPECT_TRUE(contains(message_of({"-i"}, "cli"), "invalid argument: -i"));
  EXPECT_TRUE(contains(message_of({"--tokens", "1"}, "cp"), "invalid argument: --tokens"));
  EXPECT_TRUE(parse({"-i"}, "cp").interactive);
}

TEST(OptionParser, MissingValue) {
  EXPECT_EQ(message_of({"-m", "x", "-n"}).substr(0, 70),
            "error while handling argument \"-n\": expected value for argument\n\nusage");
  EXPECT_TRUE(message_of({"-n"}).ends_with("\n\nto show complete usage, run with -h\n"));
}

TEST(OptionParser, BadValues) {
  EXPECT_TRUE(contains(message_of({"-n", "abc"}), "stoi: 'abc' is not an integer"));
  EXPECT_TRUE(contains(message_of({"-n", "99999999999999999999"}), "stoi: '99999999999999999999' is too large"));
  EXPECT_TRUE(contains(message_of({"--temp", "warm"}), "stof: 'warm' is not a number"));
  EXPECT_TRUE(contains(message_of({"--poll", "101"}), "must be between 0 and 100, not 101"));
  EXPECT_TRUE(contains(message_of({"-b", "0"}), "must be at least 1, not 0"));
  EXPECT_TRUE(contains(message_of({"-c", "5000000000"}), "must be between 0 and 2147483647, not 5000000000"));
  EXPECT_TRUE(contains(message_of({"--temp", "nan"}), "must be a finite number, not nan"));
  EXPECT_TRUE(contains(message_of({"--rope-scaling", "cubic"}), "\"--rope-scaling\": invalid value"));
  EXPECT_TRUE(contains(message_of({"-fa", "maybe"}), "error: unknown value for --flash-attn: 'maybe'"));
  EXPECT_TRUE(contains(message_of({"-ctk", "q9"}), "Unsupported cache type: q9"));
  EXPECT_TRUE(contains(message_of({"-f", "/no/file"}), "error: failed to open file '/no/file'"));
  EXPECT_TRUE(contains(message_of({"-dev", "nosuch"}), "invalid device: nosuch"));
  EXPECT_TRUE(contains(message_of({"-l", "12"}), "TOKEN_ID+BIAS"));
  EXPECT_TRUE(contains(message_of({"-l", "12+x"}), "no number"));
  EXPECT_TRUE(contains(message_of({"--tokens", "1 x"}), "found 'x'"));
  EXPECT_TRUE(contains(message_of({"--samplers", "top_k;nosuch"}), "unknown sampler 'nosuch'"));
  EXPECT_TRUE(contains(message_of({"-C", "xyz"}), "not hexadecimal"));
  EXPECT_TRUE(contains(message_of({"-Cr", "5-2"}), "is empty"));
  EXPECT_TRUE(contains(message_of({"--rope-scale", "0"}), "must be above 0"));
}

TEST(OptionParser, NotSupportedYetIsRefusedByName) {
  EXPECT_EQ(message_of({"--grammar", "x"}), "error: --grammar is not supported yet by this version of brisk\n");
  EXPECT_TRUE(contains(message_of({"--samplers", "dry"}), "sampler 'dry' is not supported yet"));
  EXPECT_TRUE(contains(message_of({"-lm", "mlock"}), "mode 'mlock' is not supported yet"));
  EXPECT_TRUE(
      contains(message_of({}, "run", {{"LLAMA_ARG_MLOCK", "1"}}), "LLAMA_ARG_MLOCK (--mlock) is not supported"));
}

TEST(OptionParser, EnvironmentBelowTheCommandLine) {
  EXPECT_EQ(parse({}, "run", {{"LLAMA_ARG_N_PREDICT", "7"}}).n_predict, 7);
  const Options o = parse({"-n", "3"}, "run", {{"LLAMA_ARG_N_PREDICT", "7"}});
  EXPECT_EQ(o.n_predict, 3);
  ASSERT_EQ(o.notices.size(), 1U);
  EXPECT_EQ(
      o.notices[0],
      "warn: LLAMA_ARG_N_PREDICT environment variable is set, but will be overwritten by command line argument -n");
}

TEST(OptionParser, EnvironmentBooleans) {
  EXPECT_FALSE(parse({}, "run", {{"LLAMA_ARG_MMAP", "0"}}).mmap);
  EXPECT_TRUE(parse({}, "run", {{"LLAMA_ARG_MMAP", "enabled"}}).mmap);
  EXPECT_FALSE(parse({}, "run", {{"LLAMA_ARG_NO_MMAP", "0"}}).mmap);  // whatever the value
  EXPECT_FALSE(parse({}, "run", {{"LLAMA_ARG_SWA_FULL", "off"}}).swa_full);
  EXPECT_TRUE(parse({}, "run", {{"LLAMA_ARG_SWA_FULL", "1"}}).swa_full);
  EXPECT_EQ(message_of({}, "run", {{"LLAMA_ARG_MMAP", "perhaps"}}),
            "error while handling environment variable \"LLAMA_ARG_MMAP\": 'perhaps' is neither true nor false\n\n");
}

TEST(OptionParser, EnvironmentOfNoConcernIsIgnored) {
  EXPECT_EQ(parse({}, "run", {{"LLAMA_ARG_PORT", "x"}, {"HF_TOKEN", "secret"}}), parse({}));
}

TEST(OptionParser, SeedsAndSentinels) {
  EXPECT_EQ(parse({"--seed", "-1"}).sampling.seed, 4294967295U);
  EXPECT_EQ(parse({"--seed", "4294967294"}).sampling.seed, 4294967294U);
  EXPECT_EQ(parse({"--temp", "-3"}).sampling.temperature, 0.0F);
  EXPECT_EQ(parse({}).cpu.n_threads, kUnset);
  EXPECT_EQ(parse({"-t", "-1"}).cpu.n_threads, -1);
}

TEST(OptionParser, CpuMasks) {
  EXPECT_EQ(parse({"-C", "0x5"}).cpu.mask, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(parse({"-C", "1", "-Cr", "2-3"}).cpu.mask, (std::vector<bool>{true, false, true, true}));
  EXPECT_EQ(parse({"-Cr", "-1"}).cpu.mask, (std::vector<bool>{true, true}));
}

TEST(OptionParser, OverrideKv) {
  const Options o = parse({"--override-kv", "a.b=int:5,c=str:x:y", "--override-kv", "d=bool:true"});
  ASSERT_EQ(o.overrides.size(), 3U);
  EXPECT_EQ(o.overrides[1], (KvOverride{"c", "str", "x:y"}));
  EXPECT_TRUE(contains(message_of({"--override-kv", "nonsense"}), "error: Invalid type for KV override: nonsense"));
  EXPECT_TRUE(contains(message_of({"--override-kv", "a=bool:1"}), "Invalid boolean value"));
}

TEST(OptionParser, InputAffixesSwitchTheChatOff) {
  EXPECT_EQ(parse({"--in-prefix", "A"}, "cp").conversation, Switch::off);
  EXPECT_EQ(parse({"--in-prefix-bos"}, "cp").conversation, Switch::off);
  EXPECT_EQ(parse({"-cnv"}, "cp").conversation, Switch::on);
  EXPECT_EQ(parse({"-no-cnv"}, "cp").conversation, Switch::off);
}

TEST(OptionParser, FilesLoseOneNewline) {
  const std::string path = ::testing::TempDir() + "brisk_option_parser_prompt.txt";
  std::ofstream(path, std::ios::binary) << "Hi\n\n";
  EXPECT_EQ(parse({"-f", path}).prompt, "Hi\n");
  EXPECT_EQ(parse({"-bf", path}).prompt, "Hi\n\n");
  EXPECT_EQ(parse({"-f", path}).raw_file_prompt, "Hi\n\n");
  EXPECT_EQ(parse({"-sysf", path}).system_prompt, "Hi\n");
  std::ofstream(path, std::ios::binary) << "1, 2\n3";
  EXPECT_EQ(parse({"--tokens", "@" + path}).tokens, (std::vector<int32_t>{1, 2, 3}));
  std::remove(path.c_str());
}

TEST(OptionParser, InformationEndsParsing) {
  EXPECT_TRUE(parse({"--help", "--nope"}).help);
  EXPECT_TRUE(parse({"--version", "-n"}).version);
}

TEST(OptionParser, CommaLists) {
  EXPECT_EQ(split_commas("a,\"b,\"\"c\",d"), (std::vector<std::string>{"a", "b,\"c", "d"}));
}

std::vector<std::string> spellings_of(const OptionRow& row) {
  std::istringstream words(std::string(row.names) + " " + std::string(row.negatives));
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<std::string> spellings_of(std::string_view program) {
  std::vector<std::string> all;
  for (const auto& section : option_sections()) {
    for (const auto& row : section.rows) {
      if (!belongs_to(row, program)) continue;
      for (auto& spelling : spellings_of(row)) all.push_back(std::move(spelling));
    }
  }
  return all;
}

TEST(OptionTable, SpellingsAreUniqueInEachProgram) {
  for (const auto& program : program_list()) {
    std::vector<std::string> spellings = spellings_of(program.code);
    std::sort(spellings.begin(), spellings.end());
    const auto twice = std::adjacent_find(spellings.begin(), spellings.end());
    EXPECT_EQ(twice, spellings.end()) << program.code << ": " << *twice;
  }
}

TEST(OptionTable, RowsAreComplete) {
  size_t n_rows = 0;
  for (const auto& section : option_sections()) {
    for (const auto& row : section.rows) {
      ++n_rows;
      EXPECT_FALSE(row.help.empty()) << row.names;
      EXPECT_EQ(row.kind == Kind::toggle, !row.negatives.empty()) << row.names;
      const bool takes_value = row.kind != Kind::flag && row.kind != Kind::toggle;
      EXPECT_EQ(takes_value, !row.hint.empty()) << row.names;
      EXPECT_TRUE(row.kind != Kind::choice || !row.choices.empty()) << row.names;
    }
  }
  EXPECT_GT(n_rows, 320U);
}

TEST(OptionHelp, TextBeginsAtColumn40) {
  const OptionRow* row = find_option("-n", "run");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(option_usage(*row),
            "-n,    --predict, --n-predict N         tokens to generate; -1: no limit, -2: until the context is full\n"
            "                                        (default: -1)\n"
            "                                        (env: LLAMA_ARG_N_PREDICT)\n");
}

TEST(OptionHelp, LongNamesPutTheTextBelow) {
  const OptionRow* row = find_option("--chat-template-kwargs", "sv");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(option_usage(*row).starts_with("--chat-template-kwargs STRING           variables"));
  const OptionRow* longer = find_option("--cache-idle-slots", "sv");
  EXPECT_TRUE(contains(option_usage(*longer), "--no-cache-idle-slots\n                                        move"));
}

TEST(OptionHelp, SectionsOfAProgram) {
  const std::string help = option_help("cp");
  EXPECT_LT(help.find("----- common params -----"), help.find("----- sampling params -----"));
  EXPECT_LT(help.find("----- sampling params -----"), help.find("----- example-specific params -----"));
  EXPECT_FALSE(contains(help, "--port"));
  EXPECT_TRUE(contains(option_help("sv"), "--port"));
}

TEST(OptionHelp, DocumentationPageIsCurrent) {
  std::ifstream page(BRISK_SOURCE_DIR "/docs/flags.md", std::ios::binary);
  ASSERT_TRUE(page) << "docs/flags.md is missing";
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  EXPECT_EQ(text, options_markdown()) << "run: brisk help --markdown > docs/flags.md";
}

TEST(OptionHelp, CompletionScriptNamesProgramsAndOptions) {
  const std::string script = completion_script();
  EXPECT_TRUE(contains(script, " --temp "));
  EXPECT_TRUE(contains(script, "complete -F _brisk_completions llama-completion\n"));
  EXPECT_TRUE(contains(script, "complete -F _brisk_completions brisk\n"));
  EXPECT_FALSE(contains(script, "--mirostat "));
}

TEST(ProgramList, NamesAreFound) {
  EXPECT_EQ(find_command("run")->code, "run");
  EXPECT_EQ(find_alias("llama-completion")->code, "cp");
  EXPECT_EQ(find_alias("llama-server")->run, nullptr);
  EXPECT_EQ(find_command(""), nullptr);
  EXPECT_EQ(find_alias("brisk"), nullptr);
}

}  // namespace
}  // namespace brisk::cli
