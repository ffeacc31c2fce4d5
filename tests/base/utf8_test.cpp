#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace brisk {
namespace {

TEST(Utf8, EveryScalarValueRoundTrips) {
  for (uint32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    utf8::append(text, code_point);
    const utf8::Decoded decoded = utf8::decode(text, 0);
    ASSERT_TRUE(decoded.valid) << code_point;
    ASSERT_EQ(decoded.code_point, code_point);
    ASSERT_EQ(decoded.length, text.size());
  }
}

// Rows of table 3-7 of the Unicode standard, one step outside each.
TEST(Utf8, IllFormedBytesStandForThemselves) {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
        "\xE2\x82\x41", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xF0\x9F\x98"}) {
    const utf8::Decoded decoded = utf8::decode(text, 0);
    EXPECT_FALSE(decoded.valid);
    EXPECT_EQ(decoded.length, 1);
    EXPECT_EQ(decoded.code_point, static_cast<uint8_t>(text[0]));
  }
}

TEST(Utf8, CompletePrefixHoldsBackWhatCouldStillGrow) {
  const std::string euro = "\xE2\x82\xAC";
  const std::string face = "\xF0\x9F\x98\x80";
  EXPECT_EQ(utf8::complete_prefix(""), 0u);
  EXPECT_EQ(utf8::complete_prefix("abc"), 3u);
  for (size_t cut = 1; cut < 3; ++cut) EXPECT_EQ(utf8::complete_prefix("ab" + euro.substr(0, cut)), 2u) << cut;
  for (size_t cut = 1; cut < 4; ++cut) EXPECT_EQ(utf8::complete_prefix("ab" + face.substr(0, cut)), 2u) << cut;
  EXPECT_EQ(utf8::complete_prefix("ab" + euro), 5u);
  EXPECT_EQ(utf8::complete_prefix("ab" + face), 6u);
}

TEST(Utf8, CompletePrefixLetsInvalidBytesGo) {
  EXPECT_EQ(utf8::complete_prefix("ab\xFF"), 3u);
  EXPECT_EQ(utf8::complete_prefix("ab\x80\x80\x80\x80"), 6u);
  EXPECT_EQ(utf8::complete_prefix("ab\xC0"), 3u);
  EXPECT_EQ(utf8::complete_prefix("ab\xE0\x80"), 4u);      // can never become valid
  EXPECT_EQ(utf8::complete_prefix("ab\xF4\x90\x80"), 5u);  // neither
}

TEST(Utf8, SanitizeReplacesInvalidBytesOnly) {
  EXPECT_EQ(utf8::sanitize("a\xE2\x82\xAC"), "a\xE2\x82\xAC");
  EXPECT_EQ(utf8::sanitize("a\xFF\xE2\x82"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(utf8::sanitize(std::string("\0x", 2)), std::string("\0x", 2));
}

}  // namespace
}  // namespace brisk
