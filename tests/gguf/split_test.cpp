#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "gguf/split_name.hpp"

namespace brisk {
namespace {

using namespace test;

GgufBuilder part(uint16_t number, uint16_t count, int32_t total) {
  GgufBuilder file;
  if (number == 0) file.str("general.architecture", "llama");
  file.u16("split.no", number).u16("split.count", count).i32("split.tensors.count", total);
  file.f32_tensor("t" + std::to_string(number), {8});
  return file;
}

std::string name(int number, int count = 3) {
  return gguf::split_path("m", static_cast<uint32_t>(number), static_cast<uint32_t>(count)).string();
}

void write_parts(const TempDir& dir, std::initializer_list<int> numbers) {
  for (const int i : numbers) dir.write(name(i), part(static_cast<uint16_t>(i - 1), 3, 3).build());
}

void expect_message(const std::filesystem::path& path, ErrorCode code, const std::vector<std::string>& parts) {
  const std::string message = open_error(path, code);
  for (const std::string& text : parts)
    EXPECT_NE(message.find(text), std::string::npos) << text << " not in: " << message;
}

TEST(SplitName, SuffixMustMatchExactly) {
  const auto parsed = gguf::parse_split_name("/a/b-c-00002-of-00013.gguf");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->prefix, "/a/b-c");
  EXPECT_EQ(parsed->number, 2u);
  EXPECT_EQ(parsed->count, 13u);
  EXPECT_EQ(gguf::split_path(parsed->prefix, 2, 13), "/a/b-c-00002-of-00013.gguf");
  for (const char* bad :
       {"m-0001-of-00002.gguf", "m-00001-of-00002.GGUF", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf",
        "m_00001-of-00002.gguf", "m-0000a-of-00002.gguf", "m.gguf", "-00001-of-00002.gguf"}) {
    EXPECT_FALSE(gguf::parse_split_name(bad).has_value()) << bad;
  }
}

TEST(Split, AllPartsAreOpened) {
  const TempDir dir;
  write_parts(dir, {1, 2, 3});
  const auto model = gguf::Model::open(dir.path() / name(1));
  ASSERT_EQ(model.tensors().size(), 3u);
  EXPECT_EQ(model.tensors()[2].file, 2u);
  EXPECT_EQ(model.metadata().get_string("general.architecture"), "llama");
  EXPECT_EQ(model.bytes_of(*model.find_tensor("t2")).size(), 32u);
  EXPECT_EQ(model.file_bytes(), read_file(dir.path() / name(1)).size() + 2 * read_file(dir.path() / name(2)).size());
  const auto alone = gguf::Model::open(dir.path() / name(2), {.follow_splits = false});
  EXPECT_EQ(alone.tensors().size(), 1u);
}

// case 025: every missing part is named, before any other part is read.
TEST(Split, MissingPartsAreAllNamed) {
  const TempDir dir;
  write_parts(dir, {1});
  expect_message(dir.path() / name(1), ErrorCode::not_found,
                 {"2 of the model's 3 parts are missing", name(2), name(3)});
  dir.write(name(3), "not even a model");
  expect_message(dir.path() / name(1), ErrorCode::not_found, {"1 of the model's 3 parts", name(2)});
}

TEST(Split, ALaterPartNamesTheFirst) {
  const TempDir dir;
  write_parts(dir, {1, 2, 3});
  expect_message(dir.path() / name(2), ErrorCode::invalid_argument, {"part 2 of 3", "open " + name(1)});
}

TEST(Split, RenamedFirstPartSaysWhatTheNameMustBe) {
  const TempDir dir;
  const auto path = dir.write("model.gguf", part(0, 3, 3).build());
  expect_message(path, ErrorCode::invalid_argument, {"part 1 of 3", "-00001-of-00003.gguf"});
}

TEST(Split, PartsOfAnotherModelAreRefused) {
  const TempDir dir;
  write_parts(dir, {1, 2});
  dir.write(name(3), part(1, 3, 3).build());
  expect_message(dir.path() / name(1), ErrorCode::corrupt, {name(3), "split.no is 1"});
  GgufBuilder plain;
  plain.f32_tensor("x", {8});
  dir.write(name(3), plain.build());
  expect_message(dir.path() / name(1), ErrorCode::corrupt, {name(3), "split.no is absent"});
}

TEST(Split, DuplicateTensorsAndWrongTotals) {
  const TempDir dir;
  write_parts(dir, {1, 2});
  GgufBuilder third = part(2, 3, 3);
  third.tensors[0].name = "t0";
  dir.write(name(3), third.build());
  expect_message(dir.path() / name(1), ErrorCode::corrupt, {"tensor 't0' of part 3 stands in part 1 too"});
  third.tensors[0].name = "t2";
  third.f32_tensor("one.more", {8});
  dir.write(name(3), third.build());
  expect_message(dir.path() / name(1), ErrorCode::corrupt, {"split.tensors.count is 3", "hold 4 tensors"});
}

TEST(Split, CountsOfOneAndZeroMeanNotSplit) {
  const TempDir dir;
  for (const uint16_t count : {uint16_t{0}, uint16_t{1}}) {
    EXPECT_EQ(gguf::Model::open(dir.write("m.gguf", part(0, count, 1).build())).tensors().size(), 1u);
  }
}

// case 023: parts joined with `cat`.
TEST(Split, JoinedPartsAreRecognised) {
  const TempDir dir;
  const auto path = dir.write(name(1, 2), part(0, 2, 2).build() + part(1, 2, 2).build());
  expect_message(path, ErrorCode::corrupt, {"another GGUF file starts at byte", "cat", "merge tool"});
}

}  // namespace
}  // namespace brisk
