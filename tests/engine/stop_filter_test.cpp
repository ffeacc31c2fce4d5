#include "engine/stop_filter.hpp"

#include <gtest/gtest.h>

namespace brisk::engine {
namespace {

/// Everything that the filter hands on when `text` arrives in pieces of `piece` bytes.
std::string through(StopFilter& filter, std::string_view text, size_t piece) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += piece) out += filter.push(text.substr(i, piece));
  return out + filter.flush();
}

TEST(StopFilter, PassesTextWithoutStops) {
  StopFilter filter({}, false);
  EXPECT_EQ(filter.push("abc"), "abc");
  EXPECT_FALSE(filter.stopped());
}

TEST(StopFilter, CutsAtTheStopHoweverTheTextIsSplit) {
  for (size_t piece = 1; piece <= 20; ++piece) {
    StopFilter filter({"STOP", "END"}, false);
    EXPECT_EQ(through(filter, "some text ENSTOP more END", piece), "some text EN") << piece;
    EXPECT_TRUE(filter.stopped());
  }
}

TEST(StopFilter, GivesBackWhatWasHeldWhenNoStopCame) {
  for (size_t piece = 1; piece <= 8; ++piece) {
    StopFilter filter({"\n\nUser:"}, false);
    EXPECT_EQ(through(filter, "a\n\nUse", piece), "a\n\nUse");
    EXPECT_FALSE(filter.stopped());
  }
}

TEST(StopFilter, HoldsOnlyWhatMayStillBecomeAStop) {
  StopFilter filter({"abcd"}, false);
  EXPECT_EQ(filter.push("xxab"), "xx");
  EXPECT_EQ(filter.push("cx"), "abcx");
}

TEST(StopFilter, EmitsTheMatchWhenAsked) {
  for (size_t piece = 1; piece <= 9; ++piece) {
    StopFilter filter({"User:"}, true);
    EXPECT_EQ(through(filter, "hi User: x", piece), "hi User:");
  }
}

TEST(StopFilter, EarliestMatchWins) {
  StopFilter filter({"cd", "bcde"}, false);
  EXPECT_EQ(filter.push("abcdef"), "a");
}

TEST(StopFilter, IgnoresEmptyStops) {
  StopFilter filter({""}, false);
  EXPECT_EQ(filter.push("abc"), "abc");
}

}  // namespace
}  // namespace brisk::engine
