#include "cli/exit_code.hpp"
#include "cli/file_type.hpp"
#include "cli/json_output.hpp"
#include "cli/loaded_model.hpp"
#include "cli/timing_report.hpp"
#include "test_support/paths.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace brisk::cli {
namespace {

namespace fs = std::filesystem;

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  };
}

TEST(ExitCode, NativeCodesTellKindsApartAndOthersDoNot) {
  EXPECT_EQ(exit_code_of(ErrorCode::not_found, true), kModelProblem);
  EXPECT_EQ(exit_code_of(ErrorCode::context_full, true), kContextFull);
  EXPECT_EQ(exit_code_of(ErrorCode::out_of_memory, true), kOutOfMemory);
  EXPECT_EQ(exit_code_of(ErrorCode::invalid_argument, true), kFailure);
  EXPECT_EQ(exit_code_of(ErrorCode::not_found, false), kFailure);
  EXPECT_EQ(exit_code_of(ErrorCode::cancelled, false), kInterrupted);
}

TEST(FindModel, PathsNamesAndTheDefault) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("brisk_models_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "a.gguf") << "x";
  const Environment environment = environment_of({{"BRISK_MODELS", folder.string()}});
  EXPECT_EQ(find_model("a.gguf", environment), folder / "a.gguf");
  EXPECT_EQ(find_model((folder / "a.gguf").string(), environment), folder / "a.gguf");
  EXPECT_EQ(find_model("b.gguf", environment), "b.gguf");  // opening it says that it is not there
  try {
    (void)find_model("", environment);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("scripts/quickstart"), std::string::npos);
  }
  std::ofstream(folder / "SmolLM2-135M-Instruct.Q4_1.gguf") << "x";
  EXPECT_EQ(find_model("", environment), folder / "SmolLM2-135M-Instruct.Q4_1.gguf");
  fs::remove_all(folder);
}

TEST(FindModel, CacheFolders) {
  const fs::path cache = fs::path(::testing::TempDir()) / ("brisk_cache_" + std::to_string(::getpid()));
  fs::create_directories(cache / "brisk" / "models");
  std::ofstream(cache / "brisk" / "models" / "c.gguf") << "x";
  EXPECT_EQ(find_model("c.gguf", environment_of({{"XDG_CACHE_HOME", cache.string()}})), cache / "brisk/models/c.gguf");
  EXPECT_EQ(find_model("c.gguf", environment_of({})), "c.gguf");
  fs::remove_all(cache);
}

TEST(Registry, UnknownInstructionSetIsRefusedByName) {
  try {
    (void)make_registry(environment_of({{"BRISK_CPU", "mmx"}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("BRISK_CPU=mmx"), std::string::npos);
  }
  EXPECT_NE(make_registry(environment_of({{"BRISK_CPU", "scalar"}}))->first_of(DeviceType::cpu), nullptr);
}

TEST(JsonOutput, FieldsOfTheObject) {
  Generation generation;
  generation.tokens = {5, 6};
  generation.text = "a\xff";
  generation.reason = engine::FinishReason::length;
  generation.probs = {{{5, -0.5F}}, {{6, -0.25F}}};
  generation.timings.prompt_n = 3;
  const std::vector<int32_t> prompt{1, 2, 3};
  EXPECT_EQ(
      json_of(prompt, generation, 1.5),
      "{\"prompt_tokens\":[1,2,3],\"tokens\":[5,6],\"text\":\"a\xEF\xBF\xBD\",\"finish_reason\":\"length\",\"timings\":"
      "{\"prompt_n\":3,\"prompt_ms\":0.0,\"predicted_n\":0,\"predicted_ms\":0.0,\"load_ms\":1.5},\"probs\":"
      "[[[5,-0.5]],[[6,-0.25]]]}\n");
}

TEST(TimingReport, RatesAndSums) {
  engine::Timings sum{};
  add(sum, {.cached_n = 2, .prompt_n = 10, .prompt_ms = 100.0, .predicted_n = 5, .predicted_ms = 50.0});
  add(sum, {.cached_n = 0, .prompt_n = 10, .prompt_ms = 100.0, .predicted_n = 4, .predicted_ms = 30.0});
  EXPECT_EQ(timing_line(sum, 250.0), "prompt 22 tokens, 100.0 t/s | answer 9 tokens, 100.0 t/s | loaded in 0.25 s");
  EXPECT_EQ(rate(5, 0.0), 0.0);
}

TEST(FileType, NamedOrGuessed) {
  const auto path = test::shared_file("golden/types/q4_k_m.gguf");
  BRISK_SKIP_WITHOUT(path, "golden/types/q4_k_m.gguf");
  EXPECT_EQ(file_type_name(gguf::Model::open(*path)), "Q4_K - Medium");
}

}  // namespace
}  // namespace brisk::cli
