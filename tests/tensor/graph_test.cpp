#include "tensor/graph.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "tensor/ops.hpp"

namespace brisk {
namespace {

/// Memory that nobody reads: these tests only build graphs.
class NoBuffer : public Buffer {
 public:
  [[nodiscard]] uint64_t size() const noexcept override { return 0; }
  void write(uint64_t, std::span<const std::byte>) override {}
  void read(uint64_t, std::span<std::byte>) const override {}
  void copy(uint64_t, uint64_t, uint64_t) override {}
  [[nodiscard]] std::byte* host() noexcept override { return nullptr; }
};

class GraphTest : public testing::Test {
 protected:
  TensorRef stored(const char* name, const Shape& shape, DType type = DType::f32) {
    return g_.store({name, type, shape, &buffer_, 0});
  }
  /// The message of the error that `build` throws.
  std::string refusal(const std::function<void()>& build) {
    try {
      build();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "accepted";
  }

  NoBuffer buffer_;
  Graph g_;
};

TEST_F(GraphTest, ShapesArePrintedWithoutTrailingOnes) {
  EXPECT_EQ(to_string(Shape(576)), "[576]");
  EXPECT_EQ(to_string(Shape(576, 1536)), "[576, 1536]");
  EXPECT_EQ(to_string(Shape(2, 1, 3)), "[2, 1, 3]");
  EXPECT_EQ(g_.describe(stored("blk.0.attn_q.weight", {256, 9}, DType::q4_k)), "'blk.0.attn_q.weight' q4_K [256, 9]");
}

TEST_F(GraphTest, AViewOfColumnsKeepsTheRowStride) {
  const TensorRef x = scale(g_, stored("x", {96, 5}), 2.0f);
  const TensorRef a = g_.view_columns(x, 32, 32);
  EXPECT_EQ(g_.shape(a), Shape(32, 5));
  EXPECT_EQ(g_.tensor(a).row_stride, 96 * 4u);
  EXPECT_EQ(g_.tensor(a).offset, 32 * 4u);
  EXPECT_EQ(g_.tensor(a).view_of, x.index);
  const TensorRef b = g_.view_columns(a, 8, 4);
  EXPECT_EQ(g_.tensor(b).offset, 40 * 4u);
  EXPECT_EQ(g_.tensor(b).view_of, x.index) << "a view of a view is one of the base";
}

TEST_F(GraphTest, ReshapeSharesTheValues) {
  const TensorRef x = stored("x", {96, 5});
  const TensorRef heads = g_.reshape(x, {16, 6, 5});
  EXPECT_EQ(g_.tensor(heads).row_stride, 64u);
  EXPECT_EQ(g_.tensor(heads).view_of, x.index);
  const TensorRef columns = g_.view_columns(x, 0, 32);
  EXPECT_EQ(g_.tensor(g_.reshape(columns, {32, 1, 5})).row_stride, 96 * 4u);
  EXPECT_THROW(g_.reshape(columns, {16, 10}), Error);
}

TEST_F(GraphTest, OutputShapes) {
  const TensorRef ids = stored("ids", {7}, DType::i32);
  const TensorRef x = embed_rows(g_, stored("embd", {64, 100}, DType::q8_0), ids);
  EXPECT_EQ(g_.shape(x), Shape(64, 7));
  const TensorRef weights[] = {stored("q", {64, 96}, DType::q4_0), stored("k", {64, 32}, DType::q4_0)};
  EXPECT_EQ(g_.shape(matmul(g_, weights, x)), Shape(128, 7));
  EXPECT_EQ(g_.shape(select_rows(g_, x, stored("rows", {2}, DType::i32))), Shape(64, 2));
  EXPECT_EQ(g_.shape(rope_table(g_, ids, {}, {.n_rot = 16, .freq_base = 1e4f})), Shape(16, 7));
}

/// Each error says which op and names both operands with their shapes.
TEST_F(GraphTest, ShapesThatDoNotFitAreRefusedWithBothOperands) {
  const TensorRef x = stored("x", {64, 7});
  const TensorRef wide = stored("wide", {96, 7});
  const TensorRef ids = stored("ids", {7}, DType::i32);
  const TensorRef halves = stored("halves", {64, 7}, DType::f16);
  EXPECT_EQ(refusal([&] { add(g_, x, wide); }), "add: shapes do not fit: 'x' f32 [64, 7] with 'wide' f32 [96, 7]");
  EXPECT_EQ(refusal([&] { mul(g_, x, wide); }), "mul: shapes do not fit: 'x' f32 [64, 7] with 'wide' f32 [96, 7]");
  EXPECT_EQ(refusal([&] { gated(g_, x, wide, Activation::silu); }),
            "gated: shapes differ: 'x' f32 [64, 7] with 'wide' f32 [96, 7]");
  EXPECT_EQ(refusal([&] {
              matmul(g_, stored("w", {32, 8}, DType::q4_0), x);
            }),
            "matmul: row lengths differ: 'w' q4_0 [32, 8] with 'x' f32 [64, 7]");
  EXPECT_EQ(refusal([&] {
              matmul(g_, stored("w", {64, 8}), x, stored("b", {9}));
            }),
            "matmul: bias length differs: 'w' f32 [64, 8] with 'b' f32 [9]");
  EXPECT_EQ(refusal([&] { rms_norm(g_, x, stored("w", {30}), 1e-5f); }),
            "rms_norm: width is no multiple of the weight's: 'x' f32 [64, 7] with 'w' f32 [30]");
  EXPECT_EQ(refusal([&] { layer_norm(g_, x, stored("w", {32}), {}, 1e-5f); }),
            "layer_norm: widths differ: 'x' f32 [64, 7] with 'w' f32 [32]");
  EXPECT_EQ(refusal([&] { scale(g_, halves, 2.0f); }),
            "scale: expects f32: 'halves' f16 [64, 7] with 'halves' f16 [64, 7]");
  EXPECT_EQ(refusal([&] { select_rows(g_, x, wide); }),
            "select_rows: ids must be one row of i32: 'wide' f32 [96, 7] with 'x' f32 [64, 7]");
  EXPECT_EQ(refusal([&] {
              rope(g_, x, stored("t", {40, 7}), 32, RopeLayout::norm);
            }),
            "rope: head sizes do not fit: 'x' f32 [64, 7] with 't' f32 [40, 7]");
  EXPECT_EQ(refusal([&] {
              rope(g_, x, stored("t", {32, 6}), 32, RopeLayout::norm);
            }),
            "rope: one column a row: 'x' f32 [64, 7] with 't' f32 [32, 6]");
  EXPECT_EQ(refusal([&] { sigmoid_mul(g_, ids, x); }),
            "sigmoid_mul: one gate a row: 'ids' i32 [7] with 'x' f32 [64, 7]");
}

TEST_F(GraphTest, AttentionChecksPagesAndPositions) {
  const AttentionParams p{.n_head = 4, .n_head_kv = 2, .head_dim = 16, .head_dim_v = 16, .scale = 0.25f};
  const TensorRef pages = stored("pages", {64 * 32, 5}, DType::f16);
  KvInputs kv{pages, pages, stored("positions", {7}, DType::i32), stored("sequences", {7}, DType::i32),
              stored("table", {5, 1}, DType::i32)};
  EXPECT_EQ(g_.shape(attention(g_, stored("q", {64, 7}), kv, p)), Shape(64, 7));
  EXPECT_NE(refusal([&] { attention(g_, stored("q", {48, 7}), kv, p); }).find("'q' f32 [48, 7]"), std::string::npos);
  EXPECT_NE(refusal([&] {
              attention(g_, stored("q", {64, 6}), kv, p);
            }).find("'positions' i32 [7]"),
            std::string::npos);
  kv.v_pages = stored("v", {64 * 16, 5}, DType::f16);
  EXPECT_NE(refusal([&] { attention(g_, stored("q", {64, 7}), kv, p); }).find("'v' f16 [1024, 5]"), std::string::npos);
}

TEST_F(GraphTest, EveryOpHasAnArity) {
  for (const OpInfo& info : kOps) {
    EXPECT_GE(info.max_inputs, info.min_inputs) << info.name;
    EXPECT_GE(info.min_inputs, 1) << info.name;
    EXPECT_EQ(name_of(info.op), info.name);
  }
}

}  // namespace
}  // namespace brisk
