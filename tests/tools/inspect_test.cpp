#include "tools/inspect.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "test_support/gguf_builder.hpp"
#include "test_support/paths.hpp"
#include "test_support/temp_dir.hpp"

namespace brisk::tools {
namespace {

using namespace test;

struct Report {
  std::string text;
  nlohmann::json json;
  bool ok;
};

Report report(std::string_view bytes, std::string_view name = "m.gguf") {
  const TempDir dir;
  const auto path = dir.write(name, bytes);
  const InspectResult text = inspect(path);
  const InspectResult json = inspect(path, {.json = true});
  EXPECT_EQ(text.ok, json.ok);
  Report out{text.text, nlohmann::json::parse(json.text), text.ok};
  EXPECT_EQ(out.json["ok"], out.ok);
  EXPECT_EQ(out.json["problems"].empty(), out.ok);
  return out;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' not in:\n" << text;
}

nlohmann::json find_row(const nlohmann::json& list, const std::string& field, const std::string& value) {
  for (const auto& row : list) {
    if (row[field] == value) return row;
  }
  ADD_FAILURE() << value << " is not listed";
  return {};
}

TEST(Inspect, ListsMetadataTensorsAndTotals) {
  const Report r = report(small_valid_gguf().build());
  EXPECT_TRUE(r.ok);
  expect_part(r.text, "format      GGUF version 3, alignment 32");
  expect_part(r.text, "metadata (16)");
  expect_part(r.text, "general.architecture");
  expect_part(r.text, "\"llama\"");
  expect_part(r.text, "str[64]    [\"token-0\", \"token-1\", \"token-2\", \"token-3\", \"token-4\", \"token-5\", ...]");
  expect_part(r.text, "tensors (6)");
  expect_part(r.text, "blk.0.ffn_gate_exps.weight");
  expect_part(r.text, "[32, 2, 3]");
  expect_part(r.text, "  q4_K          1 tensors            1024 elements             576 bytes\n");
}

TEST(Inspect, JsonHasTheSame) {
  const Report r = report(small_valid_gguf().build());
  EXPECT_EQ(r.json["version"], 3);
  EXPECT_EQ(r.json["declared_tensors"], 6);
  EXPECT_EQ(find_row(r.json["metadata"], "key", "x.f32")["value"], 0.5);
  EXPECT_EQ(find_row(r.json["metadata"], "key", "x.i64")["value"], -(int64_t{1} << 40));
  const auto tokens = find_row(r.json["metadata"], "key", "tokenizer.ggml.tokens");
  EXPECT_EQ(tokens["element_type"], "str");
  EXPECT_EQ(tokens["count"], 64);
  EXPECT_EQ(tokens["value"].size(), 6u);
  const auto up = find_row(r.json["tensors"], "name", "blk.0.ffn_up.weight");
  EXPECT_EQ(up["type"], "q4_K");
  EXPECT_EQ(up["shape"], nlohmann::json::array({256, 4}));
  EXPECT_EQ(up["bytes"], 576);
  EXPECT_EQ(find_row(r.json["totals"], "type", "q8_0")["elements"], 512);
}

TEST(Inspect, FloatsAreShort) {
  GgufBuilder file;
  file.f32("eps", 1e-5f).numbers<float>("f", kF32, {0.1f}).numbers<uint64_t>("u", kU64, {UINT64_MAX});
  file.numbers<uint8_t>("b", kBool, {0, 1}).str("control", "a\x1b[31m\n\"");
  const Report r = report(file.build());
  expect_part(r.text, "1e-05");
  expect_part(r.text, "[0.1]");
  expect_part(r.text, "[18446744073709551615]");
  expect_part(r.text, "[false, true]");
  expect_part(r.text, "\"a\\x1b[31m\\n\\\"\"");
  EXPECT_EQ(find_row(r.json["metadata"], "key", "eps")["value"], 1e-5);
  EXPECT_EQ(find_row(r.json["metadata"], "key", "u")["value"][0], UINT64_MAX);
}

// case 029: one unknown tensor type among known ones: everything is listed, the unknown one is marked.
TEST(Inspect, UnknownTensorTypesAreListedAndMarked) {
  GgufBuilder file;
  file.f32_tensor("first", {8}).tensor({"foreign", {32}, 156, std::string(24, '\0')}).f32_tensor("last", {8});
  const Report r = report(file.build());
  EXPECT_FALSE(r.ok);
  expect_part(r.text, "?156");
  expect_part(r.text, "! tensor 2 of 3 ('foreign'): type id 156, which brisk does not know");
  expect_part(r.text, "last");
  EXPECT_EQ(r.json["tensors"].size(), 3u);
  EXPECT_EQ(r.json["tensors"][1]["type"], "?156");
  EXPECT_TRUE(r.json["tensors"][1].contains("problem"));
  EXPECT_FALSE(r.json["tensors"][2].contains("problem"));
}

TEST(Inspect, CutOffDataMarksTheTensorsThatAreMissing) {
  GgufBuilder file;
  file.f32_tensor("there", {8}).f32_tensor("half", {64}).f32_tensor("gone", {64});
  std::string bytes = file.build();
  bytes.resize(bytes.size() - 300);
  const Report r = report(bytes);
  EXPECT_FALSE(r.ok);
  EXPECT_FALSE(r.json["tensors"][0].contains("problem"));
  EXPECT_TRUE(r.json["tensors"][1].contains("problem"));
  EXPECT_TRUE(r.json["tensors"][2].contains("problem"));
  expect_part(r.text, "problems (2)");
}

TEST(Inspect, CutOffHeaderIsListedAsFarAsItGoes) {
  GgufBuilder file;
  file.str("a", "one").str("b", "two").str("c", "three");
  const std::string bytes = file.build();
  const Report r = report(std::string_view(bytes).substr(0, bytes.size() - 3));
  EXPECT_FALSE(r.ok);
  expect_part(r.text, "metadata (2 of 3)");
  expect_part(r.text, "\"two\"");
  expect_part(r.text, "! metadata pair 3 of 3 ('c'): the value needs 5 bytes, but only 2 are left");
}

TEST(Inspect, KeysThatStandThereTwice) {
  GgufBuilder file;
  file.u32("k", 1).u32("k", 2);
  const Report r = report(file.build());
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.json["metadata"].size(), 2u);
  expect_part(r.text, "key 'k' stands there twice");
}

TEST(Inspect, ForeignFilesAreNamed) {
  expect_part(report("version https://git-lfs.github.com/spec/v1\nsize 5\n").text, "! is a Git LFS pointer");
  const Report html = report("<html><body>404</body></html>");
  expect_part(html.text, "! is an HTML page");
  EXPECT_FALSE(html.json.contains("metadata"));
  const std::string header = "{}";
  expect_part(report(le<uint64_t>(2) + header).text, "! is a safetensors file");
}

TEST(Inspect, SplitModels) {
  const auto part = [](uint16_t number) {
    GgufBuilder file;
    file.u16("split.no", number).u16("split.count", 3).i32("split.tensors.count", 3);
    file.f32_tensor("t" + std::to_string(number), {8});
    return file.build();
  };
  const Report second = report(part(1), "m-00002-of-00003.gguf");
  EXPECT_TRUE(second.ok);
  expect_part(second.text, "part        2 of 3 of a split model");
  const TempDir dir;
  const auto first = dir.write("m-00001-of-00003.gguf", part(0));
  dir.write("m-00003-of-00003.gguf", part(2));
  const InspectResult result = inspect(first, {.json = true});
  EXPECT_FALSE(result.ok);
  const auto json = nlohmann::json::parse(result.text);
  EXPECT_EQ(json["problems"][0], "part 2 of 3 is missing: m-00002-of-00003.gguf");
  EXPECT_EQ(json["tensors"].size(), 2u);
  EXPECT_EQ(json["tensors"][1]["part"], 2);
  EXPECT_EQ(json["split"]["files"][1], "m-00003-of-00003.gguf");
}

TEST(Inspect, NoFileIsAnError) {
  const TempDir dir;
  EXPECT_THROW(inspect(dir.path() / "nothing.gguf"), Error);
}

TEST(Inspect, ConvertedModelIsFine) {
  const InspectResult result = inspect(data_file("golden/arch/qwen2/model.gguf"));
  EXPECT_TRUE(result.ok);
  expect_part(result.text, "\"qwen2\"");
  expect_part(result.text, "token_embd.weight");
}

}  // namespace
}  // namespace brisk::tools
