#include "tokenizer/nfc.hpp"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>
#include <string>

#include "base/utf8.hpp"

namespace brisk::tokenizer {
namespace {

std::string by_utf8proc(const std::string& text) {
  utf8proc_uint8_t* composed = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
  std::string out(reinterpret_cast<const char*>(composed));
  std::free(composed);
  return out;
}

TEST(Nfc, Composes) {
  EXPECT_EQ(to_nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(to_nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(to_nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(to_nfc("\u212B"), "\u00C5");
}

TEST(Nfc, InvalidBytesPassAndCutTheText) { EXPECT_EQ(to_nfc("e\xFF\u0301"), "e\xFF\u0301"); }

TEST(Nfc, TextThatIsComposedIsLeftAlone) {
  EXPECT_FALSE(needs_nfc("plain \u00E9 \u4E2D \uD55C \xFF"));
  EXPECT_TRUE(needs_nfc("e\u0301"));
  EXPECT_TRUE(needs_nfc("\u1100\u1161"));
  EXPECT_TRUE(needs_nfc("\u212B"));
}

TEST(Nfc, EqualsTheLibraryOnRandomText) {
  std::mt19937 random(5);
  const uint32_t starts[] = {0x41,  0x300, 0x320, 0x345,  0x1100, 0x1161, 0x11A8,
                             0x3C0, 0x5B0, 0x9BE, 0x1E00, 0xAC00, 0xF900, 0x3041};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n)
      utf8::append(text, starts[random() % std::size(starts)] + static_cast<uint32_t>(random() % 40));
    const std::string want = by_utf8proc(text);
    ASSERT_EQ(to_nfc(text), want);
    if (!needs_nfc(text)) {
      ASSERT_EQ(text, want);
    }
  }
}

}  // namespace
}  // namespace brisk::tokenizer
