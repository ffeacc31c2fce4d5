#include "gguf/writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "gguf/reader.hpp"
#include "test_support/allocations.hpp"
#include "test_support/gguf_builder.hpp"
#include "test_support/paths.hpp"
#include "test_support/temp_dir.hpp"

namespace brisk {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Reads a file and writes it again, `piece` bytes at a time.
std::string written_again(const fs::path& path, const fs::path& copy, size_t piece = SIZE_MAX) {
  const auto model = gguf::Model::open(path, {.follow_splits = false});
  gguf::Writer writer(copy, model.metadata(), model.tensors(), model.version());
  for (const gguf::TensorInfo& tensor : model.tensors()) {
    auto bytes = model.bytes_of(tensor);
    while (!bytes.empty()) {
      const size_t size = std::min(piece, bytes.size());
      writer.append(bytes.first(size));
      bytes = bytes.subspan(size);
    }
  }
  writer.finish();
  std::string out = read_file(copy);
  EXPECT_EQ(writer.written_bytes(), out.size());
  return out;
}

TEST(Writer, RoundTripIsByteExact) {
  const TempDir dir;
  GgufBuilder version_2 = small_valid_gguf();
  version_2.version = 2;
  GgufBuilder aligned = small_valid_gguf();
  aligned.alignment = 16384;
  std::erase_if(aligned.pairs, [](const GgufBuilder::Pair& pair) { return pair.key == "general.alignment"; });
  aligned.u32("general.alignment", 16384);
  GgufBuilder vocab;
  vocab.str("general.architecture", "llama").strings("tokenizer.ggml.tokens", {"a", "", "c"});
  for (const GgufBuilder& file : {small_valid_gguf(), version_2, aligned, vocab}) {
    const std::string bytes = file.build();
    EXPECT_EQ(written_again(dir.write("in.gguf", bytes), dir.path() / "out.gguf"), bytes);
    EXPECT_EQ(written_again(dir.path() / "in.gguf", dir.path() / "out.gguf", 7), bytes);
  }
}

TEST(WriterGolden, RoundTripOfConvertedModels) {
  const TempDir dir;
  const auto first = data_file("golden/arch/qwen2/model.gguf");
  EXPECT_TRUE(written_again(first, dir.path() / "out.gguf") == read_file(first));
  const auto index = shared_file("golden/README.md");
  BRISK_SKIP_WITHOUT(index, "the whole golden folder");
  for (const auto& entry : fs::recursive_directory_iterator(index->parent_path())) {
    if (entry.path().extension() != ".gguf") continue;
    EXPECT_TRUE(written_again(entry.path(), dir.path() / "out.gguf") == read_file(entry.path())) << entry.path();
  }
}

TEST(Writer, NewFilesHaveAsManyDimsAsNeeded) {
  const TempDir dir;
  gguf::Metadata meta;
  meta.set_string("general.architecture", "llama");
  const gguf::TensorInfo tensors[] = {{"a", DType::f32, {4, 1, 1, 1}, 0, 0, 0, 0},
                                      {"b", DType::q8_0, {32, 2, 1, 1}, 0, 0, 0, 0}};
  gguf::Writer writer(dir.path() / "new.gguf", meta, tensors);
  writer.append(std::vector<std::byte>(16 + 68));  // both tensors at once
  EXPECT_FALSE(fs::exists(dir.path() / "new.gguf"));
  writer.finish();
  const auto model = gguf::Model::open(dir.path() / "new.gguf");
  EXPECT_EQ(model.tensors()[0].n_dims, 1);
  EXPECT_EQ(model.tensors()[1].n_dims, 2);
  EXPECT_EQ(model.tensors()[1].offset - model.tensors()[0].offset, 32u);
}

TEST(Writer, AbandonedFilesLeaveNothing) {
  const TempDir dir;
  {
    const gguf::TensorInfo tensors[] = {{"a", DType::f32, {4, 1, 1, 1}, 1, 0, 0, 0}};
    gguf::Writer writer(dir.path() / "new.gguf", gguf::Metadata(), tensors);
    EXPECT_THROW(writer.finish(), Error);  // its bytes never came
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(Writer, HoldsNoTensorData) {
  const TempDir dir;
  const gguf::TensorInfo tensors[] = {{"big", DType::f32, {1024, 4096, 1, 1}, 2, 0, 0, 0}};
  const std::vector<std::byte> piece(65536);
  const AllocationWatch watch;
  gguf::Writer writer(dir.path() / "big.gguf", gguf::Metadata(), tensors);
  for (int i = 0; i < 256; ++i) writer.append(piece);
  writer.finish();
  EXPECT_LT(watch.peak_bytes(), 8192u);
  EXPECT_GT(writer.written_bytes(), uint64_t{16} << 20);
}

TEST(Writer, RefusesWhatTheReaderWouldRefuse) {
  const TempDir dir;
  const auto refused = [&dir](const gguf::TensorInfo& tensor) {
    const gguf::TensorInfo tensors[] = {{"first", DType::f32, {4, 1, 1, 1}, 1, 0, 0, 0}, tensor};
    EXPECT_THROW(gguf::Writer(dir.path() / "x.gguf", gguf::Metadata(), tensors), Error) << tensor.name;
  };
  refused({"first", DType::f32, {4, 1, 1, 1}, 1, 0, 0, 0});
  refused({"", DType::f32, {4, 1, 1, 1}, 1, 0, 0, 0});
  refused({std::string(64, 'n'), DType::f32, {4, 1, 1, 1}, 1, 0, 0, 0});
  refused({"zero", DType::f32, {4, 0, 1, 1}, 2, 0, 0, 0});
  refused({"odd", DType::q4_0, {33, 1, 1, 1}, 1, 0, 0, 0});
  refused({"huge", DType::f32, {1 << 30, 1 << 30, 1 << 30, 1}, 3, 0, 0, 0});
  gguf::Metadata meta;
  meta.set("general.alignment", {gguf::ValueType::u32, uint64_t{24}});
  EXPECT_THROW(gguf::Writer(dir.path() / "x.gguf", meta, {}), Error);
  EXPECT_THROW(gguf::Writer(dir.path() / "no-such-folder" / "x.gguf", gguf::Metadata(), {}), Error);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

}  // namespace
}  // namespace brisk
