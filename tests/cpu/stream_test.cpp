#include <gtest/gtest.h>

#include <algorithm>

#include "allocation_counter.hpp"
#include "base/error.hpp"
#include "cpu/cpu_device.hpp"
#include "graph_runner.hpp"

namespace brisk {
namespace {

/// A layer as llama has it, with random weights: enough for every kind of phase to follow every other.
class TinyLayer {
 public:
  static constexpr int64_t kEmbd = 64;
  static constexpr int64_t kFf = 96;
  static constexpr int kTokens = 40;

  TinyLayer(GraphRunner& runner, DType kv_type) : runner_(runner) {
    const auto weight = [&](int64_t n, int64_t k) {
      return runner.float_weight({k, n}, random_floats(static_cast<size_t>(n * k), seed_++, 0.2f));
    };
    embd_ = weight(50, kEmbd);
    norm_ = runner.floats({kEmbd}, random_floats(kEmbd, seed_++));
    q_ = weight(64, kEmbd);
    k_ = weight(32, kEmbd);
    v_ = weight(32, kEmbd);
    o_ = weight(kEmbd, 64);
    gate_ = weight(kFf, kEmbd);
    up_ = weight(kFf, kEmbd);
    down_ = weight(kEmbd, kFf);
    for (TensorStorage& pages : pages_) pages = runner.zeros(kv_type, {kPagePositions * 32, 20});
    std::vector<int32_t> table(20);
    for (int i = 0; i < 20; ++i) table[static_cast<size_t>(i)] = 19 - i;
    table_ = runner.ids({20, 1}, table);
  }

  struct Step {
    Plan plan;
    TensorRef logits;
    TensorStorage ids, positions;
  };

  /// The plan of a batch of m tokens whose ids and positions are set later.
  Step step(int64_t m) {
    Step s;
    s.ids = runner_.zeros(DType::i32, {m});
    s.positions = runner_.zeros(DType::i32, {m});
    Graph g;
    const TensorRef positions = g.store(s.positions);
    const TensorRef sequences = g.store(runner_.zeros(DType::i32, {m}));
    const TensorRef table = g.store(table_);
    const AttentionParams p{.n_head = 4, .n_head_kv = 2, .head_dim = 16, .head_dim_v = 16, .scale = 0.25f};
    const TensorRef angles = rope_table(g, positions, {}, {.n_rot = 16, .freq_base = 10000.0f});
    TensorRef x = embed_rows(g, g.store(embd_), g.store(s.ids));
    for (int layer = 0; layer < 2; ++layer) {
      const KvInputs kv{g.store(pages_[2 * layer]), g.store(pages_[2 * layer + 1]), positions, sequences, table};
      x = add_layer(g, x, kv, p, angles);
    }
    s.logits = matmul(g, g.store(embd_), rms_norm(g, x, g.store(norm_), 1e-6f));
    g.mark_output(s.logits);
    s.plan = make_plan(std::move(g));
    return s;
  }

  static void set(const TensorStorage& ids, int first) {
    std::vector<int32_t> values(static_cast<size_t>(ids.shape[0]));
    for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<int32_t>(i);
    ids.buffer->write(0, std::as_bytes(std::span(values)));
  }

  /// Logits of tokens 0 .. kTokens - 1, in chunks.
  std::vector<float> run(Stream& stream, int chunk) {
    std::vector<float> all;
    for (int first = 0; first < kTokens; first += chunk) {
      Step s = step(std::min(chunk, kTokens - first));
      set(s.ids, first);
      set(s.positions, first);
      stream.run(s.plan, false);
      const auto logits = GraphRunner::read(stream, s.plan, s.logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  }

 private:
  TensorRef add_layer(Graph& g, TensorRef x, const KvInputs& kv, const AttentionParams& p, TensorRef angles) {
    const TensorRef h = rms_norm(g, x, g.store(norm_), 1e-6f);
    const TensorRef weights[] = {g.store(q_), g.store(k_), g.store(v_)};
    const TensorRef qkv = matmul(g, weights, h);
    const TensorRef q = rope(g, g.view_columns(qkv, 0, 64), angles, 16, RopeLayout::norm);
    const TensorRef k = rope(g, g.view_columns(qkv, 64, 32), angles, 16, RopeLayout::norm);
    store_kv(g, k, g.view_columns(qkv, 96, 32), kv, p);
    x = add(g, x, matmul(g, g.store(o_), attention(g, q, kv, p)));
    const TensorRef ffn[] = {g.store(gate_), g.store(up_)};
    const TensorRef both = matmul(g, ffn, rms_norm(g, x, g.store(norm_), 1e-6f));
    const TensorRef hidden = gated(g, g.view_columns(both, 0, kFf), g.view_columns(both, kFf, kFf), Activation::silu);
    return add(g, x, matmul(g, g.store(down_), hidden));
  }

  GraphRunner& runner_;
  uint32_t seed_ = 1;
  TensorStorage embd_, norm_, q_, k_, v_, o_, gate_, up_, down_, table_;
  TensorStorage pages_[4];  ///< K and V of two layers
};

TEST(StreamExact, LogitsDoNotDependOnChunksThreadsOrInstructionSet) {
  for (const DType kv_type : {DType::f32, DType::f16}) {
    GraphRunner scalar(cpu::Isa::scalar);
    TinyLayer model(scalar, kv_type);
    const auto expected = model.run(*scalar.new_stream(1), 1);
    for (const cpu::Isa isa : test::host_isas()) {
      GraphRunner runner(isa);
      TinyLayer layer(runner, kv_type);
      for (const int n_threads : {1, 2, 3, 8}) {
        const auto stream = runner.new_stream(n_threads);
        for (const int chunk : {1, 7, 32, TinyLayer::kTokens}) {
          const auto actual = layer.run(*stream, chunk);
          ASSERT_EQ(actual.size(), expected.size());
          const auto differs = std::ranges::mismatch(actual, expected).in1 - actual.begin();
          ASSERT_EQ(static_cast<size_t>(differs), actual.size()) << "first difference; " << cpu::kernel_table(isa).name
                                                                 << ", threads " << n_threads << ", chunk " << chunk;
        }
      }
    }
  }
}

TEST(Stream, ARepeatedStepAllocatesNothing) {
  GraphRunner runner;
  TinyLayer layer(runner, DType::f16);
  const auto stream = runner.new_stream(2);
  TinyLayer::Step s = layer.step(1);
  std::vector<int32_t> value(1);
  const auto run = [&](int position) {
    value[0] = position;
    s.positions.buffer->write(0, std::as_bytes(std::span(value)));
    stream->run(s.plan, false);
  };
  for (int i = 0; i < 3; ++i) run(i);
  const int64_t before = test::allocation_count();
  for (int i = 3; i < 1200; ++i) run(i);
  EXPECT_EQ(test::allocation_count() - before, 0);
}

TEST(Stream, PlansOfSeveralSizesTakeTurns) {
  GraphRunner runner;
  TinyLayer layer(runner, DType::f32);
  const auto stream = runner.new_stream(2);
  std::vector<TinyLayer::Step> steps;
  std::vector<std::vector<float>> expected;
  for (int m = 1; m <= 20; ++m) {
    steps.push_back(layer.step(m));
    TinyLayer::set(steps.back().ids, 0);
    TinyLayer::set(steps.back().positions, 0);
    stream->run(steps.back().plan, false);
    expected.push_back(GraphRunner::read(*stream, steps.back().plan, steps.back().logits));
  }
  for (size_t i = steps.size(); i-- > 0;) {
    stream->run(steps[i].plan, true);
    EXPECT_EQ(GraphRunner::read(*stream, steps[i].plan, steps[i].logits), expected[i]);
  }
}

TEST(Stream, AbortEndsTheRunAndTheNextOneWorks) {
  GraphRunner runner;
  TinyLayer layer(runner, DType::f32);
  const auto stream = runner.new_stream(3);
  const auto expected = layer.run(*stream, 40);
  for (const int after : {0, 1, 3, 5}) {
    int asked = 0;
    stream->set_abort([&] { return asked++ >= after; });
    try {
      layer.run(*stream, 40);
      FAIL() << "not aborted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
    EXPECT_EQ(asked, after + 1);
  }
  stream->set_abort({});
  EXPECT_EQ(layer.run(*stream, 40), expected);
}

TEST(Stream, AWorkersFailureIsThrownByRun) {
  GraphRunner runner;
  TinyLayer layer(runner, DType::f32);
  const auto stream = runner.new_stream(3);
  TinyLayer::Step s = layer.step(20);
  TinyLayer::set(s.ids, 40);  // 50 and more are not in the table
  TinyLayer::set(s.positions, 0);
  EXPECT_THROW(stream->run(s.plan, false), Error);
  TinyLayer::set(s.ids, 0);
  EXPECT_NO_THROW(stream->run(s.plan, false));
}

TEST(Device, StreamsWithTheSameOptionsShareThreads) {
  cpu::CpuDevice device(cpu::kernel_table(cpu::best_isa()));
  ThreadOptions two;
  two.n_threads = 2;
  const auto pool = device.pool(two);
  EXPECT_EQ(device.pool(two), pool);
  EXPECT_NE(device.pool({}), pool);
}

TEST(Device, SupportsWhatItHasKernelsFor) {
  GraphRunner runner;
  Graph g;
  const TensorRef ids = g.store(runner.ids({1}));
  const TensorRef x = embed_rows(g, g.store(runner.zeros(DType::f32, {8, 4})), ids);
  EXPECT_TRUE(runner.device().supports(g, g.nodes().back()));
  matmul(g, g.store(runner.zeros(DType::i32, {8, 4})), x);
  EXPECT_FALSE(runner.device().supports(g, g.nodes().back()));
  const AttentionParams p{.n_head = 1, .n_head_kv = 1, .head_dim = 8, .head_dim_v = 8, .scale = 1.0f};
  const auto attend = [&](DType type) {
    const KvInputs kv{g.store(runner.zeros(type, {512, 1})), g.store(runner.zeros(type, {512, 1})), ids, ids,
                      g.store(runner.ids({1, 1}, {0}))};
    attention(g, x, kv, p);
    return runner.device().supports(g, g.nodes().back());
  };
  EXPECT_TRUE(attend(DType::f16));
  EXPECT_FALSE(attend(DType::i16));
}

TEST(Backend, ForcedInstructionSetIsTheOneInUse) {
  for (const cpu::Isa isa : test::host_isas()) {
    const auto backend = make_cpu_backend({isa});
    const auto* device = dynamic_cast<cpu::CpuDevice*>(backend->devices()[0]);
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(device->table().isa, isa);
    EXPECT_NE(device->table().ops, nullptr);
  }
}

TEST(Backend, FeaturesNameTheKernels) {
  const auto has = [](cpu::Isa isa, const std::string& name) {
    const auto features = make_cpu_backend({isa})->features();
    return std::ranges::find(features, std::pair<std::string, std::string>{name, "1"}) != features.end();
  };
  EXPECT_FALSE(has(cpu::Isa::scalar, "AVX2"));
  for (const cpu::Isa isa : test::host_isas()) EXPECT_EQ(has(isa, "AVX2"), isa != cpu::Isa::scalar);
}

}  // namespace
}  // namespace brisk
