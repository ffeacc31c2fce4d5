// Renderings recorded from the models' own templates (golden/chat). A named format has no tools, no reasoning and no
// message parts; the cases that need those belong to the template interpreter.
#include "base/file.hpp"
#include "chat/format.hpp"
#include "test_support/paths.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace brisk::chat {
namespace {

using Json = nlohmann::json;

struct Covered {
  const char* model;
  const char* format;
  size_t n_cases;  // of those below that the template renders at all
};

// Cases of plain text; n_cases is smaller where the template itself refuses a system message.
constexpr const char* kPlainCases[] = {"a-user",           "b-system-user", "c-multi-turn", "f-no-generation-prompt",
                                       "f-ends-with-user", "h-odd-text"};

constexpr Covered kCovered[] = {
    {"Qwen-Qwen2.5-7B-Instruct", "qwen2.5", 6},
    {"google-gemma-2-2b-it", "gemma", 1},
    {"meta-llama-Llama-3.1-8B-Instruct", "llama3.1", 6},
    {"meta-llama-Llama-3.3-70B-Instruct", "llama3.1", 6},
    {"moonshotai-Kimi-K2", "kimi-k2-instruct", 6},
    {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "deepseek-r1-distill", 6},
    {"Bielik-11B-v3.0-Instruct", "chatml", 6},
    {"LFM2.5-Instruct", "chatml", 6},
    {"Qwen3-Coder", "chatml", 6},
};

std::optional<std::string> expected_text(const Json& result) {
  if (!result.contains("output")) return std::nullopt;
  std::string text = result.at("output");
  // The beginning-of-text token is the tokenizer's business.
  if (text.starts_with("<BOS>")) text.erase(0, 5);
  return text;
}

std::vector<Message> messages_of(const Json& item) {
  std::vector<Message> messages;
  for (const auto& m : item.at("messages")) messages.push_back({m.at("role"), m.at("content")});
  return messages;
}

size_t compare(const Format& format, const Json& conversations, const Json& results) {
  size_t n_compared = 0;
  for (const auto& item : conversations.at("cases")) {
    const std::string id = item.at("id");
    if (std::find(std::begin(kPlainCases), std::end(kPlainCases), id) == std::end(kPlainCases)) continue;
    const auto expected = expected_text(results.at(id));
    if (!expected) continue;
    ++n_compared;
    EXPECT_EQ(join(apply(format, messages_of(item), item.value("add_generation_prompt", true))), *expected) << id;
  }
  return n_compared;
}

TEST(ChatGolden, NamedFormatsEqualTheModelsOwnTemplates) {
  const auto folder = test::shared_file("golden/chat");
  const auto templates = test::shared_file("data/chat-templates");
  BRISK_SKIP_WITHOUT(folder, "golden/chat");
  BRISK_SKIP_WITHOUT(templates, "data/chat-templates");
  const Json conversations = Json::parse(read_text_file(*folder / "conversations.json"));
  for (const auto& covered : kCovered) {
    SCOPED_TRACE(covered.model);
    const std::string name = covered.model;
    const Format* format = recognise(read_text_file(*templates / (name + ".jinja")), true);
    ASSERT_NE(format, nullptr);
    EXPECT_EQ(format->name, covered.format);
    const Json results = Json::parse(read_text_file(*folder / (name + ".json"))).at("results");
    EXPECT_EQ(compare(*format, conversations, results), covered.n_cases);
  }
}

}  // namespace
}  // namespace brisk::chat
