#include "cpu/weight_loader.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <list>

#include "base/error.hpp"
#include "cpu/cpu_buffer.hpp"
#include "graph_runner.hpp"

namespace brisk {
namespace {

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * 4096;
}

class Weights : public testing::Test {
 protected:
  WeightSource source(DType type, const Shape& shape, bool rows_only = false) {
    std::mt19937 random(static_cast<uint32_t>(bytes_.size()) + 1);
    bytes_.push_back(test::random_rows(type, shape.rows(), shape[0], random));
    return {"w" + std::to_string(bytes_.size()), type, shape, bytes_.back(), rows_only, {}};
  }
  std::vector<TensorStorage> load(std::span<const WeightSource> sources, const WeightOptions& options = {}) {
    return runner_.device().load_weights(sources, options, owner_);
  }

  GraphRunner runner_;
  std::list<std::vector<std::byte>> bytes_;
  std::vector<std::unique_ptr<Buffer>> owner_;
};

TEST_F(Weights, MatricesArePackedAndTheRestStaysPlain) {
  const WeightSource sources[] = {source(DType::q4_0, {64, 40}), source(DType::f32, {64}),
                                  source(DType::q8_0, {64, 9}, true), source(DType::q6_k, {256, 17, 3}),
                                  source(DType::iq2_xs, {256, 20})};
  const auto weights = load(sources);
  ASSERT_EQ(weights.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(weights[i].name, sources[i].name);
    EXPECT_EQ(weights[i].shape, sources[i].shape);
    EXPECT_EQ(weights[i].offset % 64, 0u);
    const bool packed = i == 0 || i >= 3;
    EXPECT_EQ(weights[i].buffer->host() == nullptr, packed) << i;
    if (packed) continue;
    EXPECT_EQ(
        std::memcmp(weights[i].buffer->host() + weights[i].offset, sources[i].bytes.data(), sources[i].bytes.size()),
        0);
  }
}

TEST_F(Weights, ExpertsArePackedOneByOne) {
  const WeightSource stack = source(DType::q4_k, {256, 17, 3});
  Graph g;
  const auto weights = load(std::span(&stack, 1));
  const Tensor& tensor = g.tensor(g.store(weights[0]));
  for (int64_t e = 0; e < 3; ++e) {
    const auto part = stack.bytes.subspan(static_cast<size_t>(e) * stack.bytes.size() / 3, stack.bytes.size() / 3);
    const auto alone = test::pack_matrix(DType::q4_k, part, 17, 256);
    const cpu::MatrixView view = cpu::matrix_view(tensor, e);
    EXPECT_TRUE(view.packed);
    EXPECT_EQ(std::memcmp(view.data, alone.get(), 2 * cpu::group_bytes(view.format, 256)), 0);
  }
}

TEST_F(Weights, WithoutRepackingTheBytesAreUsedAsTheyLie) {
  WeightSource sources[] = {source(DType::q4_0, {64, 40}), source(DType::f32, {64})};
  bool released = false;
  sources[0].release = [&](uint64_t size) { released = size == sources[0].bytes.size(); };
  const auto weights = load(sources, {.repack = false, .progress = {}});
  EXPECT_FALSE(released);
  Graph g;
  const cpu::MatrixView view = cpu::matrix_view(g.tensor(g.store(weights[0])));
  EXPECT_EQ(view.data, sources[0].bytes.data());
  EXPECT_FALSE(view.packed);
}

TEST_F(Weights, RepackedAndPlainGiveTheSameProducts) {
  for (const DType type : test::kWeightTypes) {
    const WeightSource w = source(type, {256, 50});
    const auto x = random_floats(256 * 20, 1);
    std::vector<float> results[2];
    for (const bool repack : {true, false}) {
      Graph g;
      const TensorRef y = matmul(g, g.store(load(std::span(&w, 1), {.repack = repack, .progress = {}})[0]),
                                 g.store(runner_.floats({256, 20}, x)));
      results[repack ? 1 : 0] = runner_.run(std::move(g), y, 2);
    }
    EXPECT_EQ(results[0], results[1]) << traits(type).name;
  }
}

TEST_F(Weights, ProgressReachesTheEndAndCanStop) {
  const WeightSource sources[] = {source(DType::q4_0, {64, 40}), source(DType::f32, {64})};
  std::vector<uint64_t> seen;
  uint64_t total = 0;
  load(sources, {.repack = true, .progress = [&](uint64_t done, uint64_t all) {
                   seen.push_back(done);
                   total = all;
                   return true;
                 }});
  EXPECT_EQ(seen, (std::vector<uint64_t>{sources[0].bytes.size(), total}));
  EXPECT_EQ(total, sources[0].bytes.size() + 256);
  try {
    load(sources, {.repack = true, .progress = [](uint64_t, uint64_t) { return false; }});
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

TEST_F(Weights, ASizeThatIsNotTheShapesIsAnError) {
  WeightSource w = source(DType::q4_0, {64, 40});
  w.bytes = w.bytes.subspan(18);
  EXPECT_THROW(load(std::span(&w, 1)), Error);
}

/// Released as they are packed, the file's bytes and the packed ones never add up.
TEST_F(Weights, AreResidentOnce) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer keeps several bytes of its own for each that is touched";
#endif
  constexpr uint64_t kBytes = 8 << 20;
  constexpr int kCount = 8;
  std::vector<WeightSource> sources;
  for (int i = 0; i < kCount; ++i) {
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::memset(memory, 1, kBytes);
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(memory), kBytes);
    constexpr uint64_t kPage = 4096;
    sources.push_back({"w", DType::q8_0, {8192, kBytes / (8192 / 32 * 34)}, {}, false, [memory](uint64_t size) {
                         madvise(memory, size / kPage * kPage, MADV_DONTNEED);
                       }});
    sources.back().bytes = bytes.first(bytes_of(DType::q8_0, static_cast<uint64_t>(sources.back().shape.count())));
  }
  const uint64_t before = resident_bytes();
  uint64_t peak = 0;
  load(sources, {.repack = true, .progress = [&](uint64_t, uint64_t) {
                   peak = std::max(peak, resident_bytes());
                   return true;
                 }});
  // One huge page and one weight of slack.
  EXPECT_LT(peak, before + kBytes + (4 << 20));
}

/// Else the largest tensor alone, an embedding of 2/3 of the file, would be there twice.
TEST_F(Weights, LargeOnesAreReleasedPieceByPiece) {
  const Shape shape(8192, 4800);
  const std::vector<std::byte> bytes(bytes_of(DType::q8_0, static_cast<uint64_t>(shape.count())));
  std::vector<uint64_t> released;
  WeightSource w{"w", DType::q8_0, shape, bytes, false, [&](uint64_t size) { released.push_back(size); }};
  load(std::span(&w, 1));
  ASSERT_EQ(released.size(), 3u);  // 41.8 MB in pieces of 16 MiB
  EXPECT_TRUE(std::ranges::is_sorted(released));
  EXPECT_LE(released[0], uint64_t{16} << 20);
  EXPECT_EQ(released.back(), bytes.size());
}

TEST(Buffer, StartsZeroAndTakesMemoryWhenTouched) {
  GraphRunner runner;
  const uint64_t before = resident_bytes();
  const auto buffer = runner.device().allocate(uint64_t{1} << 32);
  EXPECT_LT(resident_bytes(), before + (8 << 20));
  std::byte value{7};
  buffer->read((uint64_t{1} << 32) - 1, {&value, 1});
  EXPECT_EQ(value, std::byte{0});
}

TEST(Buffer, WritesCopiesAndReads) {
  GraphRunner runner;
  const auto buffer = runner.device().allocate(100);
  const std::byte bytes[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  buffer->write(10, bytes);
  buffer->copy(10, 97, 3);
  std::byte out[3] = {};
  buffer->read(97, out);
  EXPECT_TRUE(std::ranges::equal(out, bytes));
  EXPECT_THROW(buffer->write(98, bytes), Error);
  EXPECT_THROW(buffer->copy(0, 98, 3), Error);
  EXPECT_THROW(buffer->read(UINT64_MAX, out), Error);
}

}  // namespace
}  // namespace brisk
