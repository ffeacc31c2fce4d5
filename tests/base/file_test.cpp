#include "base/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "test_support/temp_dir.hpp"

namespace brisk {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void expect_error(ErrorCode code, const std::string& part, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(FileBytes, MappedAndReadBytesAreEqual) {
  const TempDir dir;
  const std::string text = std::string(10000, 'x') + "end";
  const auto path = dir.write("f", text);
  const FileBytes mapped(path, FileBytes::Mode::map);
  const FileBytes read(path, FileBytes::Mode::read);
  EXPECT_TRUE(mapped.mapped());
  EXPECT_FALSE(read.mapped());
  EXPECT_EQ(text_of(mapped), text);
  EXPECT_EQ(text_of(read), text);
}

TEST(FileBytes, EmptyFileHasNoBytes) {
  const TempDir dir;
  for (const auto mode : {FileBytes::Mode::map, FileBytes::Mode::read}) {
    EXPECT_EQ(FileBytes(dir.write("empty", ""), mode).bytes().size(), 0u);
  }
}

TEST(FileBytes, MovesWithoutCopying) {
  const TempDir dir;
  FileBytes first(dir.write("f", "abc"), FileBytes::Mode::read);
  const std::byte* data = first.bytes().data();
  FileBytes second(std::move(first));
  EXPECT_EQ(second.bytes().data(), data);
  FileBytes third(dir.write("g", "other"), FileBytes::Mode::map);
  third = std::move(second);
  EXPECT_EQ(third.bytes().data(), data);
  EXPECT_EQ(text_of(third), "abc");
}

TEST(FileBytes, ReleasedPagesAreReadAgain) {
  const TempDir dir;
  const std::string text(3 * 4096 + 5, 'r');
  const FileBytes file(dir.write("f", text), FileBytes::Mode::map);
  EXPECT_EQ(text_of(file), text);
  file.release(100, text.size() - 100);
  file.release(0, text.size() + 1);  // beyond the end: no effect
  EXPECT_EQ(text_of(file), text);
  const FileBytes in_memory(dir.path() / "f", FileBytes::Mode::read);
  in_memory.release(0, text.size());
  EXPECT_EQ(text_of(in_memory), text);
}

int64_t resident_pages() {
  int64_t total = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

TEST(FileBytes, ReleaseGivesTheMemoryOfAReadFileBack) {
  const TempDir dir;
  constexpr int64_t kPages = 4096;
  const FileBytes file(dir.write("f", std::string(kPages * 4096, 'm')), FileBytes::Mode::read);
  const int64_t before = resident_pages();
  file.release(0, kPages * 4096);
  EXPECT_LT(resident_pages(), before - kPages / 2);
  EXPECT_EQ(std::to_integer<char>(file.bytes()[12345]), 'm');
}

TEST(FileBytes, ErrorsNameThePath) {
  const TempDir dir;
  expect_error(ErrorCode::not_found, "nothing: cannot open",
               [&] { FileBytes(dir.path() / "nothing", FileBytes::Mode::map); });
  expect_error(ErrorCode::io, "is a folder", [&] { FileBytes(dir.path(), FileBytes::Mode::map); });
  expect_error(ErrorCode::io, "is not a regular file", [] { FileBytes("/dev/null", FileBytes::Mode::read); });
}

TEST(TextFile, ReadsTheWholeFile) {
  const TempDir dir;
  EXPECT_EQ(read_text_file(dir.write("t", std::string("a\0b\n", 4))), std::string("a\0b\n", 4));
}

TEST(TextFile, ReadsPipesToTheirEnd) {
  const TempDir dir;
  const auto path = dir.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_error(ErrorCode::io, "is not a regular file", [&] { FileBytes(path, FileBytes::Mode::map); });
  std::thread writer([&] { std::ofstream(path) << "through a pipe"; });
  EXPECT_EQ(read_text_file(path), "through a pipe");
  writer.join();
  EXPECT_EQ(read_text_file("/dev/null"), "");
  expect_error(ErrorCode::io, "has no end", [] { static_cast<void>(read_text_file("/dev/zero")); });
}

TEST(AtomicFile, HasItsNameOnlyAfterCommit) {
  const TempDir dir;
  const auto path = dir.write("f", "old");
  AtomicFile file(path);
  file.write(as_bytes("new "));
  file.write(as_bytes("text"));
  EXPECT_EQ(read_text_file(path), "old");
  file.commit();
  EXPECT_EQ(read_text_file(path), "new text");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::group_read, fs::perms::group_read);
  EXPECT_THROW(file.write(as_bytes("late")), Error);
  EXPECT_THROW(file.commit(), Error);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TempDir dir;
  {
    AtomicFile file(dir.path() / "f");
    file.write(as_bytes("half"));
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(AtomicFile, ErrorsNameThePath) {
  const TempDir dir;
  expect_error(ErrorCode::not_found, "cannot create a temporary file beside it",
               [&] { AtomicFile(dir.path() / "no-folder" / "f"); });
  fs::create_directories(dir.path() / "taken" / "inside");
  expect_error(ErrorCode::io, "taken: cannot rename onto",
               [&] { write_file_atomically(dir.path() / "taken", as_bytes("text")); });
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 1);
}

}  // namespace
}  // namespace brisk
