#include <gtest/gtest.h>

#include "expect_error.hpp"

namespace brisk {
namespace {

using test::expect_refused;
using test::le;

TEST(ForeignFile, GitLfsPointer) {
  expect_refused(
      "version https://git-lfs.github.com/spec/v1\noid "
      "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
      "size 88192320\n",
      {"is a Git LFS pointer", "(88192320 bytes)", "git lfs pull"});
}

TEST(ForeignFile, HtmlPage) {
  expect_refused("<!DOCTYPE html><html><body>Sign in</body></html>", {"is an HTML page"});
  expect_refused("\xEF\xBB\xBF\n  <HTML lang=en>", {"is an HTML page"});
}

TEST(ForeignFile, Safetensors) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  expect_refused(le<uint64_t>(header.size()) + header + "\0\0\0\0", {"is a safetensors file", "convert"});
}

TEST(ForeignFile, CheckpointsAndArchives) {
  expect_refused("PK\x03\x04" + std::string(26, '\0') + "archive/data.pkl", {"is a PyTorch checkpoint"});
  expect_refused("PK\x03\x04" + std::string(26, '\0') + "model.gguf", {"is a zip archive"});
  expect_refused("\x80\x02}q" + std::string(40, 'x'), {"is a Python pickle"});
  expect_refused("\x1f\x8b\x08" + std::string(40, 'x'), {"compressed with gzip"});
  expect_refused("\x28\xb5\x2f\xfd" + std::string(40, 'x'), {"compressed with zstd"});
}

TEST(ForeignFile, FormatsBeforeGguf) {
  expect_refused(le(0x67676d6cu) + std::string(40, '\1'), {"ggml", "GGUF"});
  expect_refused(le(0x67676d66u) + std::string(40, '\1'), {"ggmf"});
  expect_refused(le(0x67676a74u) + std::string(40, '\1'), {"ggjt"});
  expect_refused(le(0x67676c61u) + std::string(40, '\1'), {"ggla", "adapter"});
  expect_refused(le(0x6767736eu) + std::string(40, '\1'), {"saved context state"});
  expect_refused(le(0x67677371u) + std::string(40, '\1'), {"saved sequence state"});
}

TEST(ForeignFile, TextsAndUnfinishedDownloads) {
  expect_refused(R"({"error":"not found"})", {"is a JSON text"});
  expect_refused("<?xml version=\"1.0\"?><Error/>", {"is an XML text"});
  expect_refused(std::string(4096, '\0'), {"starts with zeros", "unfinished"});
  expect_refused("", {"is empty"});
  expect_refused("GG", {"2 bytes"});
}

TEST(ForeignFile, UnknownStartIsShown) {
  expect_refused("ABCD" + std::string(40, 'x'), {"starts with 'ABCD' instead of 'GGUF'"});
  expect_refused("\x7f" + ("ELF" + std::string(40, '\1')), {"bytes 7f 45 4c 46"});
}

}  // namespace
}  // namespace brisk
