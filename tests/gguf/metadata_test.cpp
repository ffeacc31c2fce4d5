#include "gguf/metadata.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace brisk::gguf {
namespace {

template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Metadata, AnyIntegerTypeThatHoldsTheValue) {
  Metadata meta("m.gguf");
  meta.add("small", {ValueType::u8, uint64_t{7}});
  meta.add("signed", {ValueType::i32, int64_t{7}});
  meta.add("negative", {ValueType::i64, int64_t{-1}});
  meta.add("huge", {ValueType::u64, UINT64_MAX});
  EXPECT_EQ(meta.get_int("small"), 7);
  EXPECT_EQ(meta.get_uint("signed"), 7u);
  EXPECT_EQ(meta.get_uint("huge"), UINT64_MAX);
  EXPECT_NE(message_of([&] { (void)meta.get_uint("negative"); }).find("'negative' is -1"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)meta.get_int("huge"); }).find("18446744073709551615"), std::string::npos);
}

TEST(Metadata, WrongTypesNameFileKeyAndBothTypes) {
  Metadata meta("m.gguf");
  meta.add("k", {ValueType::string, std::string_view("text")});
  for (const auto& message :
       {message_of([&] { (void)meta.get_uint("k"); }), message_of([&] { (void)meta.get_int("k"); }),
        message_of([&] { (void)meta.get_float("k"); }), message_of([&] { (void)meta.get_bool("k"); }),
        message_of([&] { (void)meta.get_array("k"); }), message_of([&] { (void)meta.get_strings("k"); })}) {
    EXPECT_EQ(message.find("m.gguf: key 'k' has type str, but "), 0u) << message;
  }
  meta.add("n", {ValueType::u32, uint64_t{1}});
  EXPECT_NE(message_of([&] { (void)meta.get_string("n"); }).find("has type u32, but str"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)meta.get_float("n"); }).find("has type u32, but f32"), std::string::npos);
}

TEST(Metadata, ArraysConvertOrSayTheirType) {
  Metadata meta("m.gguf");
  const uint8_t bools[] = {0, 1, 2};
  meta.set_numbers("bools", ValueType::boolean, std::as_bytes(std::span(bools)));
  EXPECT_EQ(meta.get_ints("bools"), (std::vector<int64_t>{0, 1, 1}));
  const uint64_t big[] = {UINT64_MAX};
  meta.set_numbers("big", ValueType::u64, std::as_bytes(std::span(big)));
  EXPECT_THROW((void)meta.get_ints("big"), Error);
  const double doubles[] = {0.5, -1.0};
  meta.set_numbers("doubles", ValueType::f64, std::as_bytes(std::span(doubles)));
  EXPECT_EQ(meta.get_floats("doubles"), (std::vector<float>{0.5f, -1.0f}));
  EXPECT_THROW((void)meta.get_ints("doubles"), Error);
  EXPECT_THROW((void)meta.get_floats("bools"), Error);
  EXPECT_THROW((void)meta.get_strings("bools"), Error);
  EXPECT_THROW((void)meta.get_array("doubles")->int_at(0), Error);
  EXPECT_THROW((void)meta.get_array("bools")->float_at(0), Error);
  meta.set_strings("words", {"", "one", std::string("z\0z", 3)});
  EXPECT_EQ(meta.get_strings("words"), (std::vector<std::string>{"", "one", std::string("z\0z", 3)}));
}

TEST(Metadata, OverridesReplaceAndCopy) {
  Metadata meta("m.gguf");
  meta.add("a", {ValueType::u32, uint64_t{1}});
  std::string text = "llama";
  meta.override_with("a", "int", "-3");
  meta.override_with("f", "float", "2.5");
  meta.override_with("b", "bool", "true");
  meta.override_with("s", "str", text);
  text = "wiped";
  EXPECT_EQ(meta.get_int("a"), -3);
  EXPECT_EQ(meta.get_float("f"), 2.5f);
  EXPECT_EQ(meta.get_bool("b"), true);
  EXPECT_EQ(meta.get_string("s"), "llama");
  EXPECT_EQ(meta.entries().size(), 4u);
}

TEST(Metadata, BadOverridesNameKeyAndText) {
  Metadata meta;
  EXPECT_NE(message_of([&] { meta.override_with("a", "int", "1x"); }).find("'1x' is not a value of type int"),
            std::string::npos);
  EXPECT_NE(message_of([&] { meta.override_with("a", "bool", "yes"); }).find("neither true nor false"),
            std::string::npos);
  EXPECT_NE(message_of([&] { meta.override_with("a", "u32", "1"); }).find("known are int, float, bool and str"),
            std::string::npos);
  EXPECT_THROW(meta.override_with("", "int", "1"), Error);
  EXPECT_EQ(meta.entries().size(), 0u);
}

TEST(Metadata, AddKeepsTheFirstAndSetMovesToTheEnd) {
  Metadata meta;
  EXPECT_TRUE(meta.add("z", {ValueType::u8, uint64_t{1}}));
  EXPECT_TRUE(meta.add("a", {ValueType::u8, uint64_t{2}}));
  EXPECT_FALSE(meta.add("z", {ValueType::u8, uint64_t{3}}));
  EXPECT_EQ(meta.get_uint("z"), 1u);
  meta.set("z", {ValueType::u8, uint64_t{4}});
  EXPECT_EQ(meta.entries()[1].first, "z");
  EXPECT_EQ(meta.get_uint("z"), 4u);
  meta.set_string("a", "text");
  EXPECT_EQ(meta.get_string("a"), "text");
  meta.remove("a");
  meta.remove("never there");
  EXPECT_FALSE(meta.contains("a"));
  EXPECT_TRUE(meta.contains("z"));
}

}  // namespace
}  // namespace brisk::gguf
