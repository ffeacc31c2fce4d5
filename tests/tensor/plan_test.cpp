#include "tensor/plan.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tensor/ops.hpp"

namespace brisk {
namespace {

class NoBuffer : public Buffer {
 public:
  [[nodiscard]] uint64_t size() const noexcept override { return 0; }
  void write(uint64_t, std::span<const std::byte>) override {}
  void read(uint64_t, std::span<std::byte>) const override {}
  void copy(uint64_t, uint64_t, uint64_t) override {}
  [[nodiscard]] std::byte* host() noexcept override { return nullptr; }
};

struct Life {
  size_t made = 0;  ///< node that makes the tensor
  size_t last = 0;  ///< node that reads it last
  uint64_t begin = 0;
  uint64_t end = 0;
};

size_t base_of(const Graph& g, TensorRef ref) {
  const Tensor& t = g.tensor(ref);
  return static_cast<size_t>(t.view_of >= 0 ? t.view_of : ref.index);
}

std::vector<Life> lives(const Plan& plan) {
  const Graph& g = plan.graph;
  std::vector<Life> by_tensor(g.tensors().size());
  std::vector<size_t> made;
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    for (const TensorRef input : g.nodes()[i].inputs) by_tensor[base_of(g, input)].last = i;
    const auto index = static_cast<size_t>(g.nodes()[i].output.index);
    const uint64_t bytes = static_cast<uint64_t>(g.tensors()[index].shape.count()) * 4;
    by_tensor[index] = {i, i, plan.offsets[index], plan.offsets[index] + bytes};
    made.push_back(index);
  }
  for (const TensorRef output : g.outputs()) by_tensor[base_of(g, output)].last = g.nodes().size();
  std::vector<Life> all;
  for (const size_t index : made) all.push_back(by_tensor[index]);
  return all;
}

/// A chain of additions of random earlier results, views among them.
Graph random_graph(std::mt19937& random, NoBuffer& buffer) {
  Graph g;
  std::vector<TensorRef> results = {g.store({"x", DType::f32, {64, 3}, &buffer, 0})};
  const int n = 5 + static_cast<int>(random() % 60);
  for (int i = 0; i < n; ++i) {
    const TensorRef x = results[random() % results.size()];
    if (random() % 3 == 0) {
      results.push_back(g.reshape(scale(g, x, 2.0f), g.shape(x)));
    } else if (g.shape(x)[0] > 2 && random() % 2 == 0) {
      results.push_back(scale(g, g.view_columns(x, 1, g.shape(x)[0] / 2), 3.0f));
    } else {
      results.push_back(add(g, x, x));
    }
    if (random() % 8 == 0) g.mark_output(results.back());
  }
  g.mark_output(results.back());
  return g;
}

TEST(Plan, NoTwoLiveTensorsShareBytes) {
  NoBuffer buffer;
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Plan plan = make_plan(random_graph(random, buffer));
    const std::vector<Life> all = lives(plan);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].begin % 64, 0u);
      EXPECT_LE(all[i].end, plan.arena_bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool both_live = all[i].made <= all[j].last && all[j].made <= all[i].last;
        const bool apart = all[i].end <= all[j].begin || all[j].end <= all[i].begin;
        ASSERT_TRUE(!both_live || apart) << "round " << round << ": results " << j << " and " << i;
      }
    }
  }
}

TEST(Plan, AChainNeedsTwoTensorsOfMemory) {
  NoBuffer buffer;
  Graph g;
  TensorRef x = g.store({"x", DType::f32, {64, 4}, &buffer, 0});
  for (int i = 0; i < 50; ++i) x = scale(g, x, 2.0f);
  g.mark_output(x);
  EXPECT_EQ(make_plan(std::move(g)).arena_bytes, 2u * 64 * 4 * 4);
}

TEST(Plan, EachHasItsOwnId) {
  const Plan a = make_plan(Graph{});
  const Plan b = make_plan(Graph{});
  EXPECT_NE(a.id, 0u);
  EXPECT_NE(a.id, b.id);
}

TEST(Plan, NodesThatNobodyReadsAreLeftOut) {
  NoBuffer buffer;
  Graph g;
  const TensorRef x = g.store({"x", DType::f32, {64, 4}, &buffer, 0});
  const TensorRef used = scale(g, x, 2.0f);
  add(g, scale(g, x, 3.0f), used);
  const TensorRef result = add(g, g.view_columns(used, 0, 32), g.view_columns(x, 0, 32));
  g.mark_output(result);
  const Graph less = without_unread_nodes(std::move(g));
  ASSERT_EQ(less.nodes().size(), 2u);
  EXPECT_EQ(less.nodes()[0].output, used);
  EXPECT_EQ(less.nodes()[1].output, result);
}

}  // namespace
}  // namespace brisk
