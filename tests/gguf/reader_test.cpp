#include "gguf/reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "quant/codec.hpp"
#include "test_support/gguf_builder.hpp"
#include "test_support/paths.hpp"
#include "test_support/temp_dir.hpp"

namespace brisk {
namespace {

using namespace test;

TEST(Reader, ReadsEveryValueType) {
  for (const auto mode : {FileBytes::Mode::map, FileBytes::Mode::read}) {
    const TempDir dir;
    const auto model = gguf::Model::open(dir.write("m.gguf", small_valid_gguf().build()), {.mode = mode});
    const gguf::Metadata& meta = model.metadata();
    EXPECT_EQ(meta.get_string("general.architecture"), "llama");
    EXPECT_EQ(meta.get_uint("x.u8"), 200u);
    EXPECT_EQ(meta.get_int("x.i8"), -5);
    EXPECT_EQ(meta.get_uint("x.u16"), 60000u);
    EXPECT_EQ(meta.get_int("x.i16"), -300);
    EXPECT_EQ(meta.get_int("x.i32"), -70000);
    EXPECT_EQ(meta.get_float("x.f32"), 0.5f);
    EXPECT_EQ(meta.get_bool("x.bool"), true);
    EXPECT_EQ(meta.get_uint("x.u64"), uint64_t{1} << 40);
    EXPECT_EQ(meta.get_int("x.i64"), -(int64_t{1} << 40));
    EXPECT_EQ(meta.get_float("x.f64"), 0.25f);
    const auto tokens = meta.get_strings("tokenizer.ggml.tokens");
    ASSERT_TRUE(tokens.has_value());
    EXPECT_EQ(tokens->at(63), "token-63");
    EXPECT_EQ(meta.get_floats("tokenizer.ggml.scores")->size(), 64u);
    EXPECT_EQ(meta.get_ints("tokenizer.ggml.token_type")->at(5), 1);
    EXPECT_EQ(meta.get_uint("absent"), std::nullopt);
  }
}

TEST(Reader, TensorsHaveShapeTypeAndBytes) {
  const TempDir dir;
  const std::string bytes = small_valid_gguf().build();
  const auto model = gguf::Model::open(dir.write("m.gguf", bytes));
  ASSERT_EQ(model.tensors().size(), 6u);
  EXPECT_EQ(model.file_bytes(), bytes.size());
  EXPECT_EQ(model.version(), 3u);
  const gguf::TensorInfo* experts = model.find_tensor("blk.0.ffn_gate_exps.weight");
  ASSERT_NE(experts, nullptr);
  EXPECT_EQ(experts->dtype, DType::f16);
  EXPECT_EQ(experts->shape, (std::array<int64_t, 4>{32, 2, 3, 1}));
  EXPECT_EQ(experts->n_dims, 3);
  EXPECT_EQ(experts->size_bytes, 384u);
  EXPECT_EQ(model.find_tensor("blk.0"), nullptr);
  std::vector<float> values(32);
  decode(DType::f32, model.bytes_of(*model.find_tensor("output_norm.weight")).data(), values);
  EXPECT_EQ(values[31], 31.0f);
}

TEST(Reader, ReleasedPagesStayReadable) {
  GgufBuilder file;
  file.f32_tensor("big", {64, 1024});
  const TempDir dir;
  const auto model = gguf::Model::open(dir.write("m.gguf", file.build()));
  const gguf::TensorInfo& big = model.tensors()[0];
  model.release(big);
  float last = 0;
  std::memcpy(&last, model.bytes_of(big).data() + big.size_bytes - 4, 4);
  EXPECT_EQ(last, 65535.0f);
}

TEST(Reader, Version2IsReadAlike) {
  GgufBuilder file = small_valid_gguf();
  file.version = 2;
  const TempDir dir;
  const auto model = gguf::Model::open(dir.write("m.gguf", file.build()));
  EXPECT_EQ(model.version(), 2u);
  EXPECT_EQ(model.tensors().size(), 6u);
}

TEST(Reader, FilesWithoutTensorsOrPairs) {
  const TempDir dir;
  GgufBuilder vocab;
  vocab.str("general.architecture", "llama");
  EXPECT_EQ(gguf::Model::open(dir.write("vocab.gguf", vocab.build())).tensors().size(), 0u);
  GgufBuilder bare;
  bare.f32_tensor("t", {});  // no dimension: one element
  const auto model = gguf::Model::open(dir.write("bare.gguf", bare.build()));
  EXPECT_EQ(model.tensors()[0].size_bytes, 4u);
  EXPECT_EQ(model.metadata().entries().size(), 0u);
}

TEST(Reader, TensorsMayLieInAnyOrderWithGaps) {
  GgufBuilder file;
  file.tensor({"late", {8}, 0, std::string(32, '\1'), 64}).tensor({"early", {8}, 0, std::string(32, '\2'), 0});
  std::string bytes = file.build() + std::string(32, '\0');
  const TempDir dir;
  const auto model = gguf::Model::open(dir.write("m.gguf", bytes));
  EXPECT_EQ(model.find_tensor("late")->offset - model.find_tensor("early")->offset, 64u);
}

TEST(Reader, ExtraBytesBehindTheDataAreHarmless) {
  const TempDir dir;
  EXPECT_EQ(gguf::Model::open(dir.write("m.gguf", small_valid_gguf().build() + "extra")).tensors().size(), 6u);
}

TEST(Reader, MissingFileAndFolderAreNamed) {
  const TempDir dir;
  try {
    gguf::Model::open(dir.path() / "nothing.gguf");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ErrorCode::not_found));
    EXPECT_NE(std::string(error.what()).find("nothing.gguf"), std::string::npos);
  }
  EXPECT_THROW(gguf::Model::open(dir.path()), Error);
}

TEST(Reader, MovedModelKeepsItsViews) {
  const TempDir dir;
  auto first = gguf::Model::open(dir.write("m.gguf", small_valid_gguf().build()), {.mode = FileBytes::Mode::read});
  first.metadata().override_with("x.str", "str", "a text that is longer than the small-string buffer");
  const gguf::Model model = std::move(first);
  EXPECT_EQ(model.metadata().get_string("x.str"), "a text that is longer than the small-string buffer");
  EXPECT_NE(model.find_tensor("token_embd.weight"), nullptr);
}

// The golden model is there in a clone without the shared folder too.
TEST(ReaderGolden, TinyModelOfAConverter) {
  const auto model = gguf::Model::open(data_file("golden/arch/qwen2/model.gguf"));
  EXPECT_EQ(model.metadata().get_string("general.architecture"), "qwen2");
  EXPECT_EQ(model.metadata().get_strings("tokenizer.ggml.tokens")->size(), 512u);
  const gguf::TensorInfo* embedding = model.find_tensor("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->shape[1], 512);
  EXPECT_EQ(embedding->dtype, DType::f32);
}

TEST(ReaderGolden, EveryGoldenModelLoads) {
  const auto folder = shared_file("golden/README.md");
  BRISK_SKIP_WITHOUT(folder, "the whole golden folder");
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder->parent_path())) {
    if (entry.path().extension() != ".gguf") continue;
    const auto model = gguf::Model::open(entry.path());
    EXPECT_FALSE(model.tensors().empty()) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 50);
}

}  // namespace
}  // namespace brisk
