#include "cli/model_defaults.hpp"

#include "cli/option_parser.hpp"

#include <gtest/gtest.h>

namespace brisk::cli {
namespace {

gguf::Metadata recommended() {
  gguf::Metadata metadata("test");
  metadata.override_with("general.sampling.temp", "float", "0.25");
  metadata.override_with("general.sampling.top_k", "int", "7");
  metadata.override_with("general.sampling.penalty_repeat", "float", "1.5");
  metadata.override_with("general.sampling.mirostat", "int", "2");
  metadata.override_with("general.sampling.sequence", "str", "top_k;dry;temperature");
  return metadata;
}

Options parse(const std::vector<std::string>& args) { return parse_options(args, {"run", false, {}}); }

LogOptions silent() {
  LogOptions options;
  options.disabled = true;
  return options;
}

TEST(ModelDefaults, TakeThePlaceOfBriskDefaults) {
  Log log(silent(), false);
  const Options options = with_model_defaults(parse({}), recommended(), log);
  EXPECT_FLOAT_EQ(options.sampling.temperature, 0.25F);
  EXPECT_EQ(options.sampling.top_k, 7);
  EXPECT_FLOAT_EQ(options.sampling.repeat_penalty, 1.5F);
  EXPECT_FLOAT_EQ(options.sampling.top_p, 0.95F);
  EXPECT_EQ(options.sampling.order, (std::vector<std::string>{"top_k", "temperature"}));
}

TEST(ModelDefaults, GiveWayToWhatTheUserSays) {
  Log log(silent(), false);
  const Options options =
      with_model_defaults(parse({"--temperature", "0.8", "--top-k", "40", "--sampler-seq", "p"}), recommended(), log);
  EXPECT_FLOAT_EQ(options.sampling.temperature, 0.8F);
  EXPECT_EQ(options.sampling.top_k, 40);
  EXPECT_EQ(options.sampling.order, (std::vector<std::string>{"top_p"}));
  EXPECT_FLOAT_EQ(options.sampling.repeat_penalty, 1.5F);
}

}  // namespace
}  // namespace brisk::cli
