#include "cli/bench_options.hpp"

#include "base/error.hpp"
#include "cli/option_parser.hpp"

#include <gtest/gtest.h>

namespace brisk::cli {
namespace {

using Setting = BenchSetting;
using Texts = std::vector<std::string>;

BenchCommand parse(const Texts& args, bool native = false) { return parse_bench(args, native); }

const Texts& list(const BenchCommand& command, Setting setting) { return command.lists[static_cast<size_t>(setting)]; }

std::string refusal(const Texts& args, bool native = false) {
  try {
    (void)parse(args, native);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BenchOptions, NumberListsAndRanges) {
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(parse_number_list("1,4", 0), (Numbers{1, 4}));
  EXPECT_EQ(parse_number_list("1-4", 0), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(parse_number_list("1-8+3", 0), (Numbers{1, 4, 7}));
  EXPECT_EQ(parse_number_list("1-20*3,5", 0), (Numbers{1, 3, 9, 5}));
  EXPECT_EQ(parse_number_list("7-7", 0), (Numbers{7}));
  EXPECT_EQ(parse_number_list("-1", -5), (Numbers{-1}));
}

TEST(BenchOptions, RangesThatDoNotGrowAreRefused) {
  for (const char* text :
       {"", "x", "1,", "1-", "4-1", "1-4*1", "1-4+0", "0-4*2", "1-4x2", "1x", "99999999999", "1-2-3"}) {
    EXPECT_THROW((void)parse_number_list(text, 0), Error) << text;
  }
  EXPECT_THROW((void)parse_number_list("0", 1), Error);
  EXPECT_THROW((void)parse_number_list("0-2000000", 0), Error);
}

TEST(BenchOptions, Defaults) {
  const BenchCommand command = parse({"-t", "3"});
  EXPECT_EQ(list(command, Setting::model), Texts{"models/7B/ggml-model-q4_0.gguf"});
  EXPECT_EQ(list(command, Setting::threads), Texts{"3"});
  EXPECT_EQ(list(command, Setting::flash_attention), Texts{"-1"});
  EXPECT_EQ(command.repetitions, 5);
  EXPECT_TRUE(command.warmup);
  EXPECT_EQ(command.output->name, "md");
  EXPECT_EQ(command.output_errors->name, "none");
  const std::vector<tools::BenchTest> tests{{.n_prompt = 512, .n_depth = 9}, {.n_gen = 128, .n_depth = 9}};
  EXPECT_EQ(bench_tests(command, 9), tests);
}

TEST(BenchOptions, ListsAccumulateOverRepeatedOptionsButMainGpuReplaces) {
  const BenchCommand command =
      parse({"-t", "1,2", "--threads", "4", "-ctk", "f16,q8_0", "--cache_type_k", "q4_0", "-mg", "1", "-mg", "0"});
  EXPECT_EQ(list(command, Setting::threads), (Texts{"1", "2", "4"}));
  EXPECT_EQ(list(command, Setting::type_k), (Texts{"f16", "q8_0", "q4_0"}));
  EXPECT_EQ(list(command, Setting::main_gpu), Texts{"0"});
}

TEST(BenchOptions, ValuesAreStoredAsResultsPrintThem) {
  const BenchCommand command = parse(
      {"-fa", "on,off,auto,1", "-ts", "3/1,2;1", "-ngl", "-1,99", "-m", "a.gguf,b.gguf", "-ot", "exps=CPU;ffn=CPU"});
  EXPECT_EQ(list(command, Setting::flash_attention), (Texts{"1", "0", "-1", "1"}));
  EXPECT_EQ(list(command, Setting::tensor_split), (Texts{"3.00/1.00", "2.00/1.00"}));
  EXPECT_EQ(list(command, Setting::gpu_layers), (Texts{"-1", "99"}));
  EXPECT_EQ(list(command, Setting::model), (Texts{"a.gguf", "b.gguf"}));
  EXPECT_EQ(list(command, Setting::overrides), Texts{"exps=CPU;ffn=CPU"});
}

TEST(BenchOptions, TestsComeAsPromptsThenGenerationsThenPairs) {
  const BenchCommand command = parse({"-pg", "16,8", "-n", "0,4", "-p", "1-2", "-pg", "0,3"});
  const std::vector<tools::BenchTest> tests{{1, 0, 0}, {2, 0, 0}, {0, 4, 0}, {16, 8, 0}, {0, 3, 0}};
  EXPECT_EQ(bench_tests(command, 0), tests);
}

TEST(BenchOptions, TheLastSettingChangesFirst) {
  const BenchCommand command = parse({"-t", "1,2", "-d", "0,8", "-b", "32,64"});
  std::string order;
  for (const BenchCombination& values : bench_combinations(command.lists)) {
    order += value_of(values, Setting::batch) + "/" + value_of(values, Setting::threads) + "/" +
             value_of(values, Setting::depth) + " ";
  }
  EXPECT_EQ(order, "32/1/0 32/1/8 32/2/0 32/2/8 64/1/0 64/1/8 64/2/0 64/2/8 ");
}

TEST(BenchOptions, RefusalsAreWordedAsScriptsKnowThem) {
  EXPECT_EQ(refusal({"-p", "x"}), "error: invalid range format\nerror: invalid parameter for argument: -p\n");
  EXPECT_EQ(refusal({"-o", "xml"}), "error: invalid parameter for argument: -o\n");
  EXPECT_EQ(refusal({"-ctk", "f32"}), "error: invalid parameter for argument: -ctk\n");
  EXPECT_EQ(refusal({"-t"}), "error: invalid parameter for argument: -t\n");
  EXPECT_EQ(refusal({"--nope", "1"}), "error: invalid parameter for argument: --nope\n");
  EXPECT_EQ(refusal({"-mmp", "0"}), "error: invalid parameter for argument: -mmp\n");
  EXPECT_EQ(refusal({"-pg", "1"}), "error: invalid parameter for argument: -pg\n");
  EXPECT_EQ(refusal({"-C", "0xg"}), "error: invalid parameter for argument: -C\n");
  for (const char* option : {"-nkvo", "--repack", "-embd", "-sm", "-lm", "-dev", "-ts", "-ot", "-r", "--prio", "-fa"}) {
    EXPECT_NE(refusal({option, "?"}), "accepted") << option;
  }
}

TEST(BenchOptions, WhatIsKnownButMissingIsRefusedByName) {
  EXPECT_EQ(refusal({"-lm", "mlock"}),
            "error: mode 'mlock' is not supported yet\nerror: invalid parameter for argument: -lm\n");
  EXPECT_EQ(refusal({"-hf", "a/b"}), "error: -hf is not supported yet\nerror: invalid parameter for argument: -hf\n");
}

TEST(BenchOptions, BrisksOwnOptionsAndOldSpellingsAreForItsOwnName) {
  EXPECT_EQ(refusal({"--limits"}), "error: invalid parameter for argument: --limits\n");
  const BenchCommand command = parse({"--limits", "--median", "-mmp", "0"}, true);
  EXPECT_TRUE(command.limits && command.median);
  EXPECT_EQ(list(command, Setting::load_mode), Texts{"none"});
  EXPECT_EQ(refusal({"-ctk", "f33"}, true),
            "error: one of: f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl\nerror: invalid parameter for argument: -ctk\n");
}

TEST(BenchOptions, TooManyCombinationsAreRefused) {
  const BenchCommand command = parse({"-b", "1-1000", "-ub", "1-1000"});
  EXPECT_THROW((void)bench_combinations(command.lists), UsageError);
}

TEST(BenchOptions, EveryOptionIsInTheHelp) {
  const std::string usage = bench_usage("llama-bench", false);
  EXPECT_EQ(usage.find("usage: llama-bench [options]\n\noptions:\n  -h, --help\n  --version        "), 0U);
  for (const BenchSettingRow& row : bench_settings()) {
    const std::string_view last = row.names.substr(row.names.rfind(' ') + 1);
    EXPECT_NE(usage.find(last), std::string::npos) << last;
  }
  EXPECT_EQ(usage.find("--limits"), std::string::npos);
  EXPECT_NE(bench_usage("brisk bench", true).find("--limits"), std::string::npos);
}

}  // namespace
}  // namespace brisk::cli
