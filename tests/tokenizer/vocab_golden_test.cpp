#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.hpp"
#include "test_support/paths.hpp"
#include "toy_vocab.hpp"

namespace brisk::tokenizer {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

TEST(TokenizerGolden, SmallVocabulariesOfEveryKind) {
  const json golden = json::parse(read_text_file(test::data_file("golden/tokenizer/cases.json")));
  for (const char* name : {"bpe-gpt2", "bpe-llama3", "bpe-qwen2", "spm"}) {
    const auto tokenizer = test::load_tokenizer(test::data_file(std::string("tokenizer/") + name + ".gguf"));
    ASSERT_FALSE(golden[name]["cases"].empty());
    for (const json& entry : golden[name]["cases"]) {
      const EncodeOptions options{.add_special = false, .parse_special = entry["parse_special"]};
      EXPECT_EQ(tokenizer->encode(entry["text"].get<std::string>(), options), entry["ids"].get<Ids>())
          << name << ": " << entry["text"];
    }
  }
}

void check_large_case(const Tokenizer& tokenizer, const json& entry) {
  const auto text = entry["text"].get<std::string>();
  const Ids ids = entry["ids"];
  for (const bool parse_special : {false, true}) {
    if (entry.contains("parse_special") && entry["parse_special"] != parse_special) continue;
    const Ids got = tokenizer.encode(text, {.add_special = false, .parse_special = parse_special});
    // Texts that end a generation are control tokens in every vocabulary (docs/formats/tokenizers.md).
    const bool either = entry.value("right", "hf") == "policy" && got == entry["llama_cpp_ids"].get<Ids>();
    if (either) continue;
    EXPECT_EQ(got, ids) << entry["group"] << ' ' << entry["text"] << " parse_special " << parse_special;
  }
  const std::string shown = entry.value("llama_cpp_detok", entry.value("detok", text));
  EXPECT_EQ(tokenizer.decode(ids, {.unparse_special = true}), shown) << entry["group"];
}

TEST(TokenizerGolden, LargePublicVocabularies) {
  const auto folder = test::shared_file("data/vocab/large");
  BRISK_SKIP_WITHOUT(folder, "data/vocab/large");
  size_t n_cases = 0;
  for (const char* name : {"llama2", "mistral_v1", "llama3_1", "qwen3", "deepseek_v3"}) {
    const json golden = json::parse(read_text_file(*folder / (std::string(name) + ".json")));
    const auto tokenizer = test::load_tokenizer(*folder / golden["gguf"].get<std::string>());
    EXPECT_EQ(tokenizer->vocab().n_tokens(), golden["n_vocab"].get<int32_t>());
    EXPECT_EQ(tokenizer->vocab().bos(), golden["special_ids"].value("bos", tokenizer->vocab().bos())) << name;
    EXPECT_EQ(tokenizer->vocab().eos(), golden["special_ids"]["eos"].get<int32_t>()) << name;
    Ids framed = golden["add_special_prefix"];
    for (const int32_t id : golden["add_special_suffix"].get<Ids>()) framed.push_back(id);
    EXPECT_EQ(tokenizer->encode(""), framed) << name;
    for (const json& entry : golden["cases"]) check_large_case(*tokenizer, entry);
    n_cases += golden["cases"].size();
  }
  EXPECT_EQ(n_cases, 1731u);
}

TEST(TokenizerGolden, VocabulariesOfTheField) {
  constexpr std::string_view kSeparator = "\n__ggml_vocab_test__\n";
  const auto folder = test::shared_file("data/vocab");
  BRISK_SKIP_WITHOUT(folder, "data/vocab");
  for (const char* name : {"deepseek-llm", "gpt-2", "llama-spm", "mpt", "phi-3"}) {
    const std::string file = std::string("ggml-vocab-") + name + ".gguf";
    const auto tokenizer = test::load_tokenizer(*folder / file);
    const std::string texts = read_text_file(*folder / (file + ".inp"));
    std::istringstream lines(read_text_file(*folder / (file + ".out")));
    size_t n_cases = 0;
    for (size_t begin = 0, end = 0; (end = texts.find(kSeparator, begin)) != std::string::npos;
         begin = end + kSeparator.size(), ++n_cases) {
      std::string line;
      std::getline(lines, line);
      std::istringstream numbers(line);
      const Ids want{std::istream_iterator<int32_t>(numbers), {}};
      const std::string text = texts.substr(begin, end - begin);
      EXPECT_EQ(tokenizer->encode(text, {.add_special = false}), want) << name << ": " << text;
    }
    EXPECT_GT(n_cases, 40u) << name;
  }
}

TEST(TokenizerGolden, PromptsOfRealModels) {
  constexpr std::pair<const char*, const char*> kModels[] = {
      {"golden/real/smollm2.json", "SmolLM2-135M-Instruct.Q4_1.gguf"},
      {"golden/real/gemma3-270m.json", "gemma-3-270m-q4_k_m.gguf"}};
  int n_checked = 0;
  for (const auto& [recording, model] : kModels) {
    const auto golden_path = test::shared_file(recording);
    const auto model_path = test::real_model(model);
    if (!golden_path || !model_path) continue;
    const json golden = json::parse(read_text_file(*golden_path));
    const auto tokenizer = test::load_tokenizer(*model_path);
    for (const json& prompt : golden["prompts"]) {
      for (const char* kind : {"raw", "chat"}) {
        const json& entry = prompt[kind];
        EXPECT_EQ(tokenizer->encode(entry["prompt"].get<std::string>(), {.parse_special = true}),
                  entry["prompt_tokens"].get<Ids>())
            << model << ' ' << prompt["id"];
        ++n_checked;
      }
    }
  }
  if (n_checked == 0) GTEST_SKIP() << "needs golden/real and the real models, which are not here";
}

}  // namespace
}  // namespace brisk::tokenizer
