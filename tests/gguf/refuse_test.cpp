// Files that a reader must refuse: one test a rule, `case NNN` where the fault was shipped by somebody once.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "test_support/allocations.hpp"

namespace brisk {
namespace {

using namespace test;

GgufBuilder two_tensors() {
  GgufBuilder file;
  file.str("general.architecture", "llama").f32_tensor("a", {4, 2}).f32_tensor("b", {8});
  return file;
}

TEST(Refuse, HeaderThatIsCutOff) {
  expect_refused(two_tensors().build().substr(0, 23), {"has 23 bytes, a GGUF header needs 24"});
  expect_refused("GGUF", {"has 4 bytes"});
}

TEST(Refuse, Versions) {
  GgufBuilder file = two_tensors();
  file.version = 0;
  expect_refused(file, {"GGUF version 0, brisk reads 2 and 3"}, ErrorCode::unsupported);
  file.version = 1;
  expect_refused(file, {"version 1"}, ErrorCode::unsupported);
  file.version = 4;
  expect_refused(file, {"GGUF version 4"}, ErrorCode::unsupported);
  file.version = 0x03000000;
  expect_refused(file, {"big-endian", "version 3"}, ErrorCode::unsupported);
}

TEST(Refuse, CountsBeyondTheFile) {
  GgufBuilder file = two_tensors();
  file.n_tensors = uint64_t{1} << 60;
  expect_refused(file, {"promises 1152921504606846976 tensors"});
  file.n_tensors = UINT64_MAX;
  expect_refused(file, {"promises -1 tensors"});
  file.n_tensors.reset();
  file.n_pairs = 1000;
  expect_refused(file, {"promises 1000 metadata pairs"});
}

// case 001: the product of dimensions wraps.
TEST(Refuse, DimensionsWhoseProductWraps) {
  GgufBuilder file = two_tensors();
  file.tensors[0].dims = {4, (int64_t{1} << 62) + 1};
  expect_refused(file, {"tensor 1 of 2 ('a')", "overflows"});
  file.tensors[0].dims = {4, (int64_t{1} << 42) + 1};
  expect_refused(file, {"tensor 1 of 2 ('a')", "the file has"});
}

// case 002: a size just below 2^64 wraps to 0 when it is padded.
TEST(Refuse, SizeThatWrapsWhenPadded) {
  GgufBuilder file = two_tensors();
  file.tensors[1].dims = {4, (int64_t{1} << 30) - 1, (int64_t{1} << 30) + 1, 1};
  expect_refused(file, {"tensor 2 of 2 ('b')", "overflows"});
}

// case 004: a zero dimension.
TEST(Refuse, ZeroAndNegativeDimensions) {
  GgufBuilder file;
  file.tensor({"t", {4, 0}});
  expect_refused(file, {"tensor 1 of 1 ('t')", "dimension 1 is 0, it must be positive"});
  file.tensors[0].dims = {-4, 1};
  expect_refused(file, {"dimension 0 is -4"});
  file.tensors[0].dims = {int64_t{1} << 62, 0, 5};
  expect_refused(file, {"dimension 1 is 0"});
}

// case 005: the end of the file is missing.
TEST(Refuse, TensorBytesBeyondTheEnd) {
  GgufBuilder file;
  file.f32_tensor("early", {8}).f32_tensor("late", {512});
  std::string bytes = file.build();
  const size_t full = bytes.size();
  bytes.resize(full - 1024);
  expect_refused(
      bytes, {"tensor 2 of 2 ('late')", "needs bytes " + std::to_string(full - 2048) + " to " + std::to_string(full),
              "the file has " + std::to_string(full - 1024), "download it again"});
}

// case 007: a huge key length in a tiny file.
TEST(Refuse, HugeKeyLength) {
  GgufBuilder file;
  file.raw("k", kU8, le<uint8_t>(1));
  file.pairs[0].key_length = 0xFFFFFFFFFFFF;
  const std::string bytes = file.build();
  const TempDir dir;
  const auto path = dir.write("m.gguf", bytes);
  const AllocationWatch watch;
  EXPECT_THROW(gguf::Model::open(path), Error);
  EXPECT_LT(watch.peak_bytes(), 16384u);
  expect_refused(bytes, {"metadata pair 1 of 1", "281474976710655 bytes"});
}

// case 008: string and array lengths that a constant bound would let through.
TEST(Refuse, StringsAndArraysLongerThanTheFile) {
  GgufBuilder file;
  file.raw("s", kStr, le<uint64_t>((1u << 30) - 1) + "abc");
  expect_refused(file, {"metadata pair 1 of 1 ('s')", "1073741823 bytes"});
  GgufBuilder strings;
  strings.raw("a", kArr, le<uint32_t>(kStr) + le<uint64_t>(1u << 30));
  expect_refused(strings, {"('a')", "1073741824 str elements"});
  GgufBuilder numbers;
  numbers.raw("n", kArr, le<uint32_t>(kU64) + le<uint64_t>(uint64_t{1} << 61));
  expect_refused(numbers, {"('n')", "2305843009213693952 u64 elements"});
  GgufBuilder inner;
  inner.raw("i", kArr, le<uint32_t>(kStr) + le<uint64_t>(2) + sized("ok") + le<uint64_t>(UINT64_MAX));
  inner.str("pad", std::string(64, 'x'));
  expect_refused(inner, {"('i')", "a string of the array needs 18446744073709551615 bytes"});
}

// case 010: the alignment has another type than u32.
TEST(Refuse, AlignmentOfAnotherType) {
  const std::pair<uint32_t, std::string> values[] = {{kI32, le<int32_t>(32)},
                                                     {kU64, le<uint64_t>(32)},
                                                     {kStr, sized("32")},
                                                     {kArr, le<uint32_t>(kU32) + le<uint64_t>(1) + le(32u)}};
  for (const auto& [type, value] : values) {
    GgufBuilder file = two_tensors();
    file.raw("general.alignment", type, value);
    expect_refused(file, {"general.alignment has type", "must be u32"});
  }
}

// case 011: alignments that break the padding's arithmetic.
TEST(Refuse, AlignmentsOutOfRange) {
  for (const uint32_t alignment : {0u, 1u, 3u, 4u, 48u, 0x80000000u, 1u << 30, 1u << 21}) {
    GgufBuilder file = two_tensors();
    file.u32("general.alignment", alignment);
    expect_refused(file, {"general.alignment is " + std::to_string(alignment), "power of two from 8 to 1048576"});
  }
}

TEST(Refuse, AlignmentsInRangeAreAccepted) {
  for (const uint32_t alignment : {8u, 16u, 64u, 4096u, 1u << 20}) {
    GgufBuilder file = two_tensors();
    file.alignment = alignment;
    file.u32("general.alignment", alignment);
    const TempDir dir;
    const auto model = gguf::Model::open(dir.write("m.gguf", file.build()));
    EXPECT_EQ(model.alignment(), alignment);
    EXPECT_EQ(model.tensors()[1].offset % alignment, 0u);
  }
}

// case 013: dimensions whose product wraps to a small number.
TEST(Refuse, ProductThatWrapsToFour) {
  GgufBuilder file;
  file.tensor({"w", {4194305, 4194305, 211106198978564}, 0, std::string(16, '\0')});
  expect_refused(file, {"tensor 1 of 1 ('w')", "[4194305, 4194305, 211106198978564]", "overflows"});
}

// case 014: arrays of arrays, unknown element and value types.
TEST(Refuse, NestedArraysAndUnknownTypes) {
  std::string nested;
  for (int i = 0; i < 10000; ++i) nested += le<uint32_t>(kArr) + le<uint64_t>(1);
  GgufBuilder file;
  file.raw("deep", kArr, nested);
  expect_refused(file, {"('deep')", "array of arrays"});
  GgufBuilder element;
  element.raw("e", kArr, le<uint32_t>(99) + le<uint64_t>(1) + le<uint64_t>(0));
  expect_refused(element, {"('e')", "element type 99"});
  GgufBuilder value;
  value.raw("v", 13, le<uint64_t>(0));
  expect_refused(value, {"('v')", "value type 13"});
}

// case 017: the wrong element type is an error of the getter, never an assertion.
TEST(Refuse, NumericGetterOnAnArrayOfStrings) {
  GgufBuilder file;
  file.strings("tokenizer.ggml.precompiled_charsmap", {"a", "b"});
  const TempDir dir;
  const auto model = gguf::Model::open(dir.write("m.gguf", file.build()));
  try {
    (void)model.metadata().get_ints("tokenizer.ggml.precompiled_charsmap");
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'tokenizer.ggml.precompiled_charsmap' has type str array of 2"), std::string::npos)
        << message;
    EXPECT_NE(message.find("m.gguf"), std::string::npos) << message;
  }
}

// case 019: the header promises more tensors than there are.
TEST(Refuse, FewerTensorsThanPromised) {
  GgufBuilder file;
  for (int i = 0; i < 5; ++i) file.f32_tensor("blk." + std::to_string(i), {8});
  file.n_tensors = 7;
  expect_refused(file, {"tensor 6 of 7"});
}

// case 022: hardening must not make a large vocabulary slow; no allocation an element.
TEST(Reader, LargeVocabularyTakesNoAllocationPerElement) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 262144; ++i) tokens.push_back("token" + std::to_string(i));
  GgufBuilder file;
  file.strings("tokenizer.ggml.tokens", tokens).strings("tokenizer.ggml.merges", tokens);
  const TempDir dir;
  const auto path = dir.write("m.gguf", file.build());
  const AllocationWatch watch;
  const auto model = gguf::Model::open(path);
  EXPECT_LT(watch.calls(), 100u);
  EXPECT_LT(watch.peak_bytes(), 16384u);
  EXPECT_EQ(model.metadata().get_array("tokenizer.ggml.tokens")->size(), 262144u);
}

// case 028: a foreign quantization type is named as such, not as an offset mismatch.
TEST(Refuse, UnknownAndRetiredTensorTypes) {
  GgufBuilder file;
  file.tensor({"w", {32}, 144, std::string(24, '\0')}).f32_tensor("b", {8});
  expect_refused(file, {"tensor 1 of 2 ('w')", "type id 144, which brisk does not know"}, ErrorCode::unsupported);
  file.tensors[0].type = 31;
  expect_refused(file, {"q4_0_4_4", "retired", "take a q4_0 file"}, ErrorCode::unsupported);
  file.tensors[0].type = 0xFFFFFFFF;
  expect_refused(file, {"type id 4294967295"}, ErrorCode::unsupported);
}

TEST(Refuse, RowsThatAreNoWholeBlocks) {
  GgufBuilder file;
  file.tensor({"w", {100, 2}, 12, std::string(288, '\0')});
  expect_refused(file, {"('w')", "rows have 100 elements", "256 of a q4_K block"});
}

TEST(Refuse, KeysAndNames) {
  GgufBuilder empty_key;
  empty_key.u32("", 1);
  expect_refused(empty_key, {"metadata pair 1 of 1", "the key is empty"});
  GgufBuilder long_key;
  long_key.u32(std::string(65536, 'k'), 1);
  expect_refused(long_key, {"the key has 65536 bytes, at most 65535"});
  GgufBuilder twice;
  twice.u32("a", 1).u32("b", 2).u32("a", 3);
  expect_refused(twice, {"key 'a' stands there twice, as pair 1 and 3"});
  GgufBuilder names = two_tensors();
  names.tensors[1].name = "a";
  expect_refused(names, {"tensor 'a' stands there twice, as tensor 1 and 2"});
  names.tensors[1].name = std::string(64, 'n');
  expect_refused(names, {"the name has 64 bytes, at most 63"});
  names.tensors[1].name = "";
  expect_refused(names, {"tensor 2 of 2: the name is empty"});
  names.tensors[1].name = std::string("a\0b", 3);
  expect_refused(names, {"zero byte"});
}

TEST(Refuse, MessagesShowNoControlBytes) {
  GgufBuilder file = two_tensors();
  file.tensors[1].name = "evil\x1b[31m\xff";
  file.tensors[1].dims = {0};
  expect_refused(file, {"'evil?[31m?'"});
}

TEST(Refuse, TooManyDimensions) {
  GgufBuilder file = two_tensors();
  file.tensors[0].dims = {4, 2, 1, 1, 1};
  expect_refused(file, {"tensor 1 of 2 ('a')", "5 dimensions, at most 4"});
  file.tensors[0].n_dims = UINT32_MAX;
  expect_refused(file, {"4294967295 dimensions"});
}

TEST(Refuse, Offsets) {
  GgufBuilder file = two_tensors();
  file.tensors[1].offset = 4;
  expect_refused(file, {"tensor 2 of 2 ('b')", "offset 4 is no multiple of the alignment 32"});
  file.tensors[1].offset = 0;
  expect_refused(file, {"tensor 'b' starts at byte", "inside tensor 'a'"});
  file.tensors[1].offset = UINT64_MAX - 31;
  expect_refused(file, {"tensor 2 of 2 ('b')", "overflows"});
  file.tensors[1].offset = 1 << 20;
  expect_refused(file, {"tensor 2 of 2 ('b')", "the file has"});
}

TEST(Refuse, HeaderWithoutItsPadding) {
  GgufBuilder file;
  file.str("k", "v").tensor({"t", {1}});
  file.pad_header = false;
  expect_refused(file, {"tensor 1 of 1 ('t')", "the file is incomplete"});
}

}  // namespace
}  // namespace brisk
