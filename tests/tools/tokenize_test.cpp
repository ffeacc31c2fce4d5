#include "tools/tokenize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "gguf/reader.hpp"
#include "test_support/paths.hpp"

namespace brisk::tools {
namespace {

using nlohmann::json;

std::optional<std::filesystem::path> model_of(const std::string& name) {
  if (name == "llama.gguf") return test::data_file("tokenizer/spm.gguf");
  if (name == "qwen2.gguf") return test::data_file("tokenizer/bpe-qwen2.gguf");
  if (name == "smollm2.gguf") return test::real_model("SmolLM2-135M-Instruct.Q4_1.gguf");
  return std::nullopt;
}

std::string with_line_breaks(std::string text) {
  for (size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at) text.replace(at, 2, "\n");
  return text;
}

/// The recordings write bytes that are not UTF-8 as \xNN; no recorded piece is text beyond ASCII.
std::string as_recorded(const std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string shown;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<uint8_t>(out[i]);
    if (byte < 0x80) {
      shown += out[i];
    } else {
      shown += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return shown;
}

TEST(TokenizeGolden, RecordedRuns) {
  const json golden = json::parse(read_text_file(test::data_file("golden/cli/tokenize.json")));
  int n_compared = 0;
  for (const json& record : golden["records"]) {
    const auto args = record["args"].get<std::vector<std::string>>();
    const auto has = [&](const char* flag) { return std::find(args.begin(), args.end(), flag) != args.end(); };
    const auto value = [&](const char* flag) { return *(std::find(args.begin(), args.end(), flag) + 1); };
    if (record["exit"] != 0) continue;  // flags and files are the command line's
    const auto model = model_of(value("-m"));
    if (!model) continue;
    std::string text = has("-p") ? value("-p") : "";
    if (has("-f")) text = record.value("files", json{{"t.txt", "Hi\n"}})["t.txt"];
    if (!has("--no-escape")) text = with_line_breaks(text);
    const auto tokenizer = tokenizer::Tokenizer::load(gguf::Model::open(*model).metadata());
    std::string out;
    tokenize(*tokenizer, text, {.ids_only = has("--ids"), .show_count = has("--show-count")}, out);
    EXPECT_EQ(as_recorded(out), record["stdout"].get<std::string>()) << record["id"];
    ++n_compared;
  }
  EXPECT_GE(n_compared, 8);
}

TEST(Tokenize, BosAndSpecialParsingCanBeSwitchedOff) {
  const auto tokenizer =
      tokenizer::Tokenizer::load(gguf::Model::open(test::data_file("tokenizer/spm.gguf")).metadata());
  std::string out;
  tokenize(*tokenizer, "</s>", {.ids_only = true}, out);
  EXPECT_EQ(out, "[1, 2]\n");
  out.clear();
  tokenize(*tokenizer, "</s>", {.ids_only = true, .add_bos = false}, out);
  EXPECT_EQ(out, "[2]\n");
  out.clear();
  tokenize(*tokenizer, "</s>", {.add_bos = false, .parse_special = false}, out);
  EXPECT_EQ(out.find("     2 -> '</s>'"), std::string::npos) << out;
}

}  // namespace
}  // namespace brisk::tools
