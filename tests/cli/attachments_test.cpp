#include "cli/attachments.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace brisk::cli {
namespace {

namespace fs = std::filesystem;

class Attachments : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("brisk_attachments_" + std::to_string(::getpid()));
    fs::create_directories(root_ / "a" / "b");
    for (const char* name : {"one.txt", "two.txt", "one.md", "a/three.txt", "a/b/four.txt", "a/x[1].txt"}) {
      std::ofstream(root_ / name) << "text of " << name;
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  std::vector<std::string> find(const std::string& pattern, size_t limit = 100) {
    std::vector<std::string> names;
    for (const auto& name : glob((root_ / pattern).string(), limit)) {
      names.push_back(fs::path(name).lexically_relative(root_).string());
    }
    return names;
  }

  fs::path root_;
};

using Names = std::vector<std::string>;

TEST_F(Attachments, FileIsFramed) {
  const std::string name = (root_ / "one.txt").string();
  EXPECT_EQ(attachment(name), "--- File: " + name + " ---\ntext of one.txt");
  EXPECT_FALSE(attachment((root_ / "none.txt").string()));
  EXPECT_FALSE(attachment(root_.string()));
}

TEST_F(Attachments, StarStaysInItsFolder) {
  EXPECT_EQ(find("*.txt"), (Names{"one.txt", "two.txt"}));
  EXPECT_EQ(find("o*e.*"), (Names{"one.md", "one.txt"}));
  EXPECT_EQ(find("*/*.txt"), (Names{"a/three.txt", "a/x[1].txt"}));
}

TEST_F(Attachments, TwoStarsGoDown) {
  EXPECT_EQ(find("**/*.txt"), (Names{"a/b/four.txt", "a/three.txt", "a/x[1].txt", "one.txt", "two.txt"}));
  EXPECT_EQ(find("a/**"), (Names{"a/b/four.txt", "a/three.txt", "a/x[1].txt"}));
}

TEST_F(Attachments, QuestionMarksAndSets) {
  EXPECT_EQ(find("?ne.txt"), (Names{"one.txt"}));
  EXPECT_EQ(find("[a-p]*.txt"), (Names{"one.txt"}));
  EXPECT_EQ(find("[!o]*.txt"), (Names{"two.txt"}));
  EXPECT_EQ(find("a/x[[]1].txt"), (Names{"a/x[1].txt"}));
}

TEST_F(Attachments, NothingMatchesAndLimits) {
  EXPECT_TRUE(find("*.nothing").empty());
  EXPECT_TRUE(find("nofolder/*.txt").empty());
  EXPECT_EQ(find("**/*.txt", 2).size(), 2U);
}

TEST_F(Attachments, ManyStarsAreQuick) {
  std::ofstream(root_ / std::string(200, 'a')) << "x";
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_TRUE(find(pattern + "b").empty());
}

}  // namespace
}  // namespace brisk::cli
