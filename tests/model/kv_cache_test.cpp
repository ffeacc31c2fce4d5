#include "model/kv_cache.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/error.hpp"
#include "model/page_pool.hpp"

namespace brisk::model {
namespace {

/// Plain memory, enough for what the cache asks of a device.
class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(uint64_t size) : bytes_(size) {}
  [[nodiscard]] uint64_t size() const noexcept override { return bytes_.size(); }
  void write(uint64_t offset, std::span<const std::byte> bytes) override {
    std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
  }
  void read(uint64_t offset, std::span<std::byte> out) const override {
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }
  void copy(uint64_t from, uint64_t to, uint64_t size) override {
    std::memcpy(bytes_.data() + to, bytes_.data() + from, size);
  }
  [[nodiscard]] std::byte* host() noexcept override { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

class HostDevice final : public Device {
 public:
  [[nodiscard]] std::string_view name() const override { return "host"; }
  [[nodiscard]] std::string description() const override { return "memory without arithmetic"; }
  [[nodiscard]] DeviceType type() const override { return DeviceType::cpu; }
  [[nodiscard]] std::pair<uint64_t, uint64_t> memory() const override { return {0, 0}; }
  [[nodiscard]] bool supports(const Graph&, const Node&) const override { return false; }
  std::unique_ptr<Buffer> allocate(uint64_t size) override { return std::make_unique<HostBuffer>(size); }
  std::vector<TensorStorage> load_weights(std::span<const WeightSource>, const WeightOptions&,
                                          std::vector<std::unique_ptr<Buffer>>&) override {
    return {};
  }
  std::unique_ptr<Stream> new_stream(const ThreadOptions&) override { return nullptr; }
};

struct RecordingMover final : KvMover {
  struct Call {
    int32_t group;
    std::vector<KvMove> moves;
  };
  void move(int32_t group, std::span<const KvMove> moves) override {
    calls.push_back({group, {moves.begin(), moves.end()}});
  }
  std::vector<Call> calls;
};

HyperParams params(int32_t n_layer, int32_t window = 0) {
  HyperParams hp;
  hp.head_dim = hp.head_dim_v = 2;
  hp.window = window;
  for (int32_t il = 0; il < n_layer; ++il) hp.layers.push_back({2, 1, 4, window > 0 && il == 0, true});
  return hp;
}

class KvCacheTest : public ::testing::Test {
 protected:
  KvCache make(const HyperParams& hp, int32_t n_ctx, int32_t n_seq, int64_t n_positions = 0) {
    KvOptions options;
    options.n_ctx = n_ctx;
    options.n_seq_max = n_seq;
    options.n_ubatch = 32;
    options.n_positions = n_positions;
    options.type_k = options.type_v = DType::f32;
    return KvCache(hp, device_, options, mover_);
  }
  static bool extend(KvCache& kv, SequenceId id, int32_t n) {
    std::vector<int32_t> positions(static_cast<size_t>(n));
    std::iota(positions.begin(), positions.end(), kv.pos_max(id) + 1);
    return kv.append(id, positions);
  }
  /// The page that the device would use for a slot.
  static int32_t page(const KvCache& kv, int32_t group, SequenceId id, int32_t slot) {
    const TensorStorage& table = kv.page_table(group);
    int32_t value = 0;
    const int64_t index = table.shape[0] * id + slot / kPagePositions;
    table.buffer->read(static_cast<uint64_t>(index) * sizeof(int32_t), std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  HostDevice device_;
  RecordingMover mover_;
};

TEST(PagePool, TakesLowPagesFirstAndReusesWhatWasGivenBack) {
  PagePool pool(3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  pool.share(0);
  pool.give_back(0);
  EXPECT_EQ(pool.n_free(), 1) << "still has an owner";
  pool.give_back(0);
  EXPECT_EQ(pool.n_free(), 2);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), std::nullopt);
}

TEST(PagePool, RefusesToGiveBackAFreePage) {
  PagePool pool(1);
  EXPECT_THROW(pool.give_back(0), Error);
}

TEST_F(KvCacheTest, TakesPagesAsTheyAreNeeded) {
  KvCache kv = make(params(1), 256, 1);
  EXPECT_EQ(kv.n_free(), 256);
  EXPECT_EQ(kv.pos_max(0), -1);
  ASSERT_TRUE(extend(kv, 0, 64));
  EXPECT_EQ(kv.n_free(), 192);
  ASSERT_TRUE(extend(kv, 0, 1));
  EXPECT_EQ(kv.n_free(), 128);
  EXPECT_EQ(kv.pos_min(0), 0);
  EXPECT_EQ(kv.pos_max(0), 64);
  EXPECT_GE(page(kv, 0, 0, 64), 0);
  EXPECT_EQ(page(kv, 0, 0, 128), -1);
}

TEST_F(KvCacheTest, AFullContextIsRefusedAndChangesNothing) {
  KvCache kv = make(params(2), 64, 2);
  ASSERT_TRUE(extend(kv, 0, 60));
  EXPECT_FALSE(extend(kv, 0, 5));
  EXPECT_EQ(kv.size(0), 60);
  const KvCache::Demand too_many[] = {{1, 64}, {0, 5}};
  EXPECT_EQ(kv.first_without_room(too_many), 0);
  ASSERT_TRUE(extend(kv, 0, 4));
  ASSERT_TRUE(extend(kv, 1, 64)) << "the other sequence has its own room";
}

TEST_F(KvCacheTest, AOnePageCacheServesOneSequenceAtATime) {
  KvCache kv = make(params(1), 64, 2, 64);
  ASSERT_TRUE(extend(kv, 0, 1));
  EXPECT_FALSE(extend(kv, 1, 1));
  const KvCache::Demand both[] = {{0, 1}, {1, 1}};
  EXPECT_EQ(kv.first_without_room(both), 1);
  kv.clear(0);
  EXPECT_TRUE(extend(kv, 1, 64));
  EXPECT_FALSE(extend(kv, 1, 1));
}

TEST_F(KvCacheTest, ACopySharesPagesUntilOneOwnerWrites) {
  KvCache kv = make(params(1), 256, 2);
  ASSERT_TRUE(extend(kv, 0, 100));
  ASSERT_TRUE(kv.copy(0, 1, 0, -1));
  EXPECT_EQ(kv.size(1), 100);
  EXPECT_EQ(kv.n_free(), 512 - 128) << "nothing was taken";
  EXPECT_EQ(page(kv, 0, 0, 0), page(kv, 0, 1, 0));

  // Bytes of the shared partial page must be in the copy that the writer gets.
  const TensorStorage& k = kv.layer(0).k;
  const uint64_t page_bytes = static_cast<uint64_t>(k.shape[0]) * sizeof(float);
  const int32_t shared = page(kv, 0, 0, 99);
  const float mark = 42.0f;
  k.buffer->write(static_cast<uint64_t>(shared) * page_bytes + 8, std::as_bytes(std::span(&mark, 1)));
  ASSERT_TRUE(extend(kv, 1, 1));
  EXPECT_EQ(page(kv, 0, 0, 99), shared);
  const int32_t own = page(kv, 0, 1, 99);
  EXPECT_NE(own, shared);
  EXPECT_EQ(page(kv, 0, 1, 0), page(kv, 0, 0, 0)) << "the full page stays shared";
  float copied = 0.0f;
  k.buffer->read(static_cast<uint64_t>(own) * page_bytes + 8, std::as_writable_bytes(std::span(&copied, 1)));
  EXPECT_EQ(copied, mark);

  kv.clear(0);
  EXPECT_EQ(kv.n_free(), 512 - 128) << "the first page belongs to sequence 1 now";
  ASSERT_TRUE(extend(kv, 1, 1));
  EXPECT_EQ(page(kv, 0, 1, 99), own) << "a page with one owner is written in place";
}

TEST_F(KvCacheTest, CopyOfAPrefixEndsWhereAsked) {
  KvCache kv = make(params(1), 256, 3);
  ASSERT_TRUE(extend(kv, 0, 130));
  ASSERT_TRUE(kv.copy(0, 1, 0, 70));
  EXPECT_EQ(kv.pos_max(1), 69);
  EXPECT_EQ(page(kv, 0, 1, 128), -1);
  ASSERT_TRUE(kv.copy(0, 2, 70, 130)) << "a middle is copied row by row";
  ASSERT_EQ(mover_.calls.size(), 1u);
  EXPECT_EQ(mover_.calls[0].moves.size(), 60u);
  EXPECT_EQ(mover_.calls[0].moves[0].from_slot, 70);
  EXPECT_EQ(mover_.calls[0].moves[0].to_slot, 0);
  EXPECT_EQ(kv.pos_min(2), 70) << "positions stay what rotary embedding saw";
}

TEST_F(KvCacheTest, RemovingTheEndFreesPages) {
  KvCache kv = make(params(1), 256, 1);
  ASSERT_TRUE(extend(kv, 0, 200));
  ASSERT_TRUE(kv.remove(0, 64, -1));
  EXPECT_EQ(kv.size(0), 64);
  EXPECT_EQ(kv.n_free(), 192);
  EXPECT_TRUE(mover_.calls.empty());
  ASSERT_TRUE(kv.remove(0, 500, 600)) << "an empty range is no error";
  EXPECT_EQ(kv.size(0), 64);
}

TEST_F(KvCacheTest, RemovingTheMiddleClosesTheGap) {
  KvCache kv = make(params(1), 256, 1);
  ASSERT_TRUE(extend(kv, 0, 200));
  ASSERT_TRUE(kv.remove(0, 10, 110));
  EXPECT_EQ(kv.size(0), 100);
  EXPECT_EQ(kv.n_free(), 256 - 128);
  EXPECT_EQ(kv.pos_max(0), 199);
  ASSERT_EQ(mover_.calls.size(), 1u);
  ASSERT_EQ(mover_.calls[0].moves.size(), 90u);
  EXPECT_EQ(mover_.calls[0].moves[0].from_slot, 110);
  EXPECT_EQ(mover_.calls[0].moves[0].to_slot, 10);
  EXPECT_EQ(mover_.calls[0].moves[0].rotate, 0);
}

TEST_F(KvCacheTest, AContextShiftRotatesWhatMoved) {
  KvCache kv = make(params(1), 256, 1);
  ASSERT_TRUE(extend(kv, 0, 200));
  ASSERT_TRUE(kv.remove(0, 4, 104));
  ASSERT_TRUE(kv.shift(0, 104, -1, -100));
  EXPECT_EQ(kv.pos_max(0), 99);
  ASSERT_EQ(mover_.calls.size(), 2u);
  const auto& moves = mover_.calls[1].moves;
  ASSERT_EQ(moves.size(), 96u);
  EXPECT_EQ(moves[0].from_slot, 4);
  EXPECT_EQ(moves[0].to_slot, 4);
  EXPECT_EQ(moves[0].rotate, -100);
  ASSERT_TRUE(extend(kv, 0, 1));
  EXPECT_EQ(kv.pos_max(0), 100);
}

TEST_F(KvCacheTest, AShiftOfASharedPageLeavesTheOtherOwnerAlone) {
  KvCache kv = make(params(1), 256, 2);
  ASSERT_TRUE(extend(kv, 0, 100));
  ASSERT_TRUE(kv.copy(0, 1, 0, -1));
  ASSERT_TRUE(kv.shift(1, 80, -1, 5));
  EXPECT_EQ(kv.pos_max(0), 99);
  EXPECT_EQ(kv.pos_max(1), 104);
  EXPECT_NE(page(kv, 0, 0, 99), page(kv, 0, 1, 99));
  EXPECT_EQ(page(kv, 0, 0, 0), page(kv, 0, 1, 0)) << "untouched pages stay shared";
}

TEST_F(KvCacheTest, ShiftsThatCannotBeAreRefused) {
  KvCache kv = make(params(1), 256, 1);
  ASSERT_TRUE(extend(kv, 0, 10));
  EXPECT_THROW(static_cast<void>(kv.shift(0, 0, -1, -1)), Error) << "below zero";
  EXPECT_THROW(static_cast<void>(kv.shift(0, 5, -1, -3)), Error) << "overtakes its neighbours";
  EXPECT_THROW(static_cast<void>(kv.shift(0, 0, 5, 7)), Error);
  EXPECT_THROW(static_cast<void>(kv.shift(0, 0, -1, 2147483647)), Error) << "leaves 32 bits";
  EXPECT_EQ(kv.pos_max(0), 9);
  HyperParams learned = params(1);
  learned.learned_positions = true;
  KvCache other = make(learned, 64, 1);
  ASSERT_TRUE(extend(other, 0, 10));
  EXPECT_THROW(static_cast<void>(other.shift(0, 0, -1, 1)), Error);
}

TEST_F(KvCacheTest, DivisionRotatesEachTokenByItsOwnDifference) {
  KvCache kv = make(params(1), 256, 1);
  ASSERT_TRUE(extend(kv, 0, 8));
  ASSERT_TRUE(kv.divide(0, 0, -1, 4));
  EXPECT_EQ(kv.pos_max(0), 1);
  EXPECT_EQ(kv.size(0), 8);
  ASSERT_EQ(mover_.calls.size(), 1u);
  EXPECT_EQ(mover_.calls[0].moves[7].rotate, 1 - 7);
  EXPECT_THROW(static_cast<void>(kv.divide(0, 0, -1, 0)), Error);
}

TEST_F(KvCacheTest, KeepClearsAllOthers) {
  KvCache kv = make(params(1), 64, 3);
  for (SequenceId id = 0; id < 3; ++id) ASSERT_TRUE(extend(kv, id, 3));
  kv.keep(1);
  EXPECT_EQ(kv.size(0), 0);
  EXPECT_EQ(kv.size(1), 3);
  EXPECT_EQ(kv.size(2), 0);
  EXPECT_THROW(kv.keep(3), Error);
}

TEST_F(KvCacheTest, WindowedLayersFreeThePagesBehindTheWindow) {
  KvCache kv = make(params(2, 32), 1024, 1);
  ASSERT_EQ(kv.n_groups(), 2);
  const int32_t windowed = kv.layer(0).group;
  const int32_t full = kv.layer(1).group;
  for (int i = 0; i < 32; ++i) {
    ASSERT_TRUE(extend(kv, 0, 32));
    kv.release_behind(0);
  }
  EXPECT_EQ(page(kv, windowed, 0, 0), -1);
  EXPECT_GE(page(kv, full, 0, 0), 0);
  // Every slot that the next token, or one after taking kRollback tokens back, can see is still there.
  for (int32_t slot = 1024 - 32 - KvCache::kRollback; slot < 1024; ++slot) EXPECT_GE(page(kv, windowed, 0, slot), 0);
  EXPECT_LT(kv.layer(0).k.shape[1], kv.layer(1).k.shape[1]) << "the windowed layer needs fewer pages";
}

TEST_F(KvCacheTest, AWindowedSequenceCannotBeContinuedWhereItsWindowIsGone) {
  KvCache kv = make(params(2, 32), 1024, 2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(extend(kv, 0, 32));
    kv.release_behind(0);
  }
  EXPECT_TRUE(kv.can_continue_at(0, 640 - KvCache::kRollback));
  EXPECT_FALSE(kv.can_continue_at(0, 100));
  EXPECT_FALSE(kv.remove(0, 100, -1));
  EXPECT_EQ(kv.size(0), 640);
  EXPECT_FALSE(kv.copy(0, 1, 0, 100));
  EXPECT_TRUE(kv.copy(0, 1, 0, 600));
  EXPECT_TRUE(kv.remove(0, 0, -1)) << "starting over is always possible";
  EXPECT_TRUE(extend(kv, 0, 32));
}

TEST_F(KvCacheTest, AWindowedMiddleRemovalKeepsTheWindow) {
  KvCache kv = make(params(2, 32), 1024, 1);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(extend(kv, 0, 32));
    kv.release_behind(0);
  }
  ASSERT_TRUE(kv.remove(0, 4, 304));
  const int32_t windowed = kv.layer(0).group;
  EXPECT_EQ(kv.size(0), 340);
  for (int32_t slot = 340 - 32; slot < 340; ++slot) EXPECT_GE(page(kv, windowed, 0, slot), 0);
  EXPECT_EQ(page(kv, windowed, 0, 639), -1);
}

TEST_F(KvCacheTest, RefusesSizesAndTypesThatCannotBe) {
  KvOptions options;
  options.n_ctx = 0;
  EXPECT_THROW(KvCache(params(1), device_, options, mover_), Error);
  options.n_ctx = 64;
  options.type_k = DType::q4_k;
  EXPECT_THROW(KvCache(params(1), device_, options, mover_), Error);
}

}  // namespace
}  // namespace brisk::model
