#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph_runner.hpp"
#include "quant/half.hpp"

namespace brisk {
namespace {

/// Sequences with a history in pages that lie in an arbitrary order, and queries at the end of each.
struct Scene {
  AttentionParams params{.n_head = 4, .n_head_kv = 2, .head_dim = 32, .head_dim_v = 32, .scale = 0.17f};
  DType kv_type = DType::f32;
  std::vector<int> lengths{300};  ///< positions of each sequence, history and queries
  std::vector<int> n_queries{3};  ///< the last ones of them are queried
  uint32_t seed = 1;
};

constexpr int kMaxPages = 40;

/// Everything that depends on (sequence, position, head) alone, so that scenes can be cut differently.
float element(uint32_t kind, int sequence, int position, int index) {
  uint32_t h = kind * 0x9E3779B1u ^ static_cast<uint32_t>(sequence) * 0x85EBCA77u ^
               static_cast<uint32_t>(position) * 0xC2B2AE3Du ^ static_cast<uint32_t>(index) * 0x27D4EB2Fu;
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  h ^= h >> 12;
  h *= 0x297A2D39u;
  h ^= h >> 15;
  return static_cast<float>(static_cast<int32_t>(h)) * 0x1p-30f;
}

std::vector<float> rows_of(uint32_t kind, int sequence, int first, int last, int width) {
  std::vector<float> rows;
  for (int p = first; p < last; ++p) {
    for (int i = 0; i < width; ++i) rows.push_back(element(kind, sequence, p, i));
  }
  return rows;
}

/// Pages of sequence s: s, s + n, s + 2n, ... from the top down.
std::vector<int32_t> page_table(const Scene& scene) {
  const auto n = static_cast<int>(scene.lengths.size());
  std::vector<int32_t> table(static_cast<size_t>(n * kMaxPages), -1);
  for (int s = 0; s < n; ++s) {
    const int pages = (scene.lengths[static_cast<size_t>(s)] + 63) / 64;
    for (int j = 0; j < pages; ++j) table[static_cast<size_t>(s * kMaxPages + j)] = n * kMaxPages - 1 - (j * n + s);
  }
  return table;
}

class AttentionRun {
 public:
  explicit AttentionRun(const Scene& scene, std::optional<cpu::Isa> isa = {}) : scene_(scene), runner_(isa) {
    const auto n = static_cast<int64_t>(scene.lengths.size());
    const AttentionParams& p = scene.params;
    k_pages_ = runner_.zeros(scene.kv_type, {kPagePositions * p.n_head_kv * p.head_dim, n * kMaxPages});
    v_pages_ = runner_.zeros(scene.kv_type, {kPagePositions * p.n_head_kv * p.head_dim_v, n * kMaxPages});
    table_ = runner_.ids({kMaxPages, n}, page_table(scene));
    for (int s = 0; s < n; ++s) store(s);
  }

  /// Results of all queries, [n_head * head_dim_v] each.
  std::vector<float> run(int n_threads) {
    std::vector<int32_t> positions, sequences;
    std::vector<float> q;
    const AttentionParams& p = scene_.params;
    for (size_t s = 0; s < scene_.lengths.size(); ++s) {
      const int first = scene_.lengths[s] - scene_.n_queries[s];
      for (int i = first; i < scene_.lengths[s]; ++i) {
        positions.push_back(i);
        sequences.push_back(static_cast<int32_t>(s));
      }
      const auto rows = rows_of(3, static_cast<int>(s), first, scene_.lengths[s], p.n_head * p.head_dim);
      q.insert(q.end(), rows.begin(), rows.end());
    }
    Graph g;
    const auto m = static_cast<int64_t>(positions.size());
    const TensorRef query = g.store(runner_.floats({p.n_head * p.head_dim, m}, q));
    const TensorRef result = attention(g, query, inputs(g, positions, sequences), p);
    return runner_.run(std::move(g), result, n_threads);
  }

  std::vector<float> load(const std::vector<int32_t>& positions, const std::vector<int32_t>& sequences) {
    Graph g;
    const TensorRef rows = load_kv(g, inputs(g, positions, sequences), scene_.params);
    return runner_.run(std::move(g), rows);
  }

  void drop_page(int sequence, int index) {
    const int32_t none = -1;
    table_.buffer->write(static_cast<uint64_t>(sequence * kMaxPages + index) * 4, std::as_bytes(std::span(&none, 1)));
  }
  /// Fills everything that no query may see with NaN.
  void poison(int sequence, int from_position) {
    const AttentionParams& p = scene_.params;
    std::vector<float> bad(static_cast<size_t>((p.n_head_kv) * std::max(p.head_dim, p.head_dim_v)),
                           std::numeric_limits<float>::quiet_NaN());
    const int pages = (scene_.lengths[static_cast<size_t>(sequence)] + 63) / 64;
    for (int i = from_position; i < pages * 64; ++i) store_row(sequence, i, bad, bad);
  }

 private:
  KvInputs inputs(Graph& g, const std::vector<int32_t>& positions, const std::vector<int32_t>& sequences) {
    return {g.store(k_pages_), g.store(v_pages_), g.store(runner_.ids(positions)), g.store(runner_.ids(sequences)),
            g.store(table_)};
  }

  void store_row(int sequence, int position, const std::vector<float>& k, const std::vector<float>& v) {
    Graph g;
    const AttentionParams& p = scene_.params;
    const TensorRef key = g.store(runner_.floats({p.n_head_kv * p.head_dim, 1}, k));
    const TensorRef value = g.store(runner_.floats({p.n_head_kv * p.head_dim_v, 1}, v));
    store_kv(g, key, value, inputs(g, {position}, {sequence}), p);
    runner_.run_effects(std::move(g));
  }

  void store(int s) {
    const int length = scene_.lengths[static_cast<size_t>(s)];
    const AttentionParams& p = scene_.params;
    std::vector<int32_t> positions, sequences;
    for (int i = 0; i < length; ++i) {
      positions.push_back(i);
      sequences.push_back(s);
    }
    Graph g;
    const TensorRef k =
        g.store(runner_.floats({p.n_head_kv * p.head_dim, length}, rows_of(1, s, 0, length, p.n_head_kv * p.head_dim)));
    const TensorRef v = g.store(
        runner_.floats({p.n_head_kv * p.head_dim_v, length}, rows_of(2, s, 0, length, p.n_head_kv * p.head_dim_v)));
    store_kv(g, k, v, inputs(g, positions, sequences), p);
    runner_.run_effects(std::move(g));
  }

  Scene scene_;
  GraphRunner runner_;
  TensorStorage k_pages_, v_pages_, table_;
};

double rounded(DType type, float value) {
  return static_cast<double>(type == DType::f16 ? f16_to_f32(f32_to_f16(value)) : value);
}

double slope_of(const AttentionParams& p, int h) {
  const int n2 = 1 << static_cast<int>(std::floor(std::log2(p.n_head)));
  const double b = static_cast<double>(p.alibi_max_bias);
  return h < n2 ? std::pow(std::pow(2.0, -b / n2), h + 1) : std::pow(std::pow(2.0, -b / (2.0 * n2)), 2 * (h - n2) + 1);
}

/// Plain softmax attention in f64, straight from the formulas.
std::vector<double> reference(const Scene& scene, int sequence, int position) {
  const AttentionParams& p = scene.params;
  std::vector<double> result;
  for (int h = 0; h < p.n_head; ++h) {
    const int kv = h / (p.n_head / p.n_head_kv);
    std::vector<double> weight;
    double total = 0;
    const int first = p.window > 0 ? std::max(0, position - p.window + 1) : 0;
    for (int j = first; j <= position; ++j) {
      double dot = 0;
      for (int d = 0; d < p.head_dim; ++d) {
        dot += static_cast<double>(element(3, sequence, position, h * p.head_dim + d)) *
               rounded(scene.kv_type, element(1, sequence, j, kv * p.head_dim + d));
      }
      double score = dot * static_cast<double>(p.scale);
      if (p.soft_cap != 0.0f)
        score = static_cast<double>(p.soft_cap) * std::tanh(score / static_cast<double>(p.soft_cap));
      if (p.alibi_max_bias != 0.0f) score -= slope_of(p, h) * (position - j);
      weight.push_back(std::exp(score));
      total += weight.back();
    }
    for (int d = 0; d < p.head_dim_v; ++d) {
      double sum = 0;
      for (int j = first; j <= position; ++j) {
        sum += weight[static_cast<size_t>(j - first)] *
               rounded(scene.kv_type, element(2, sequence, j, kv * p.head_dim_v + d));
      }
      result.push_back(sum / total);
    }
  }
  return result;
}

std::vector<double> reference(const Scene& scene) {
  std::vector<double> all;
  for (size_t s = 0; s < scene.lengths.size(); ++s) {
    for (int i = scene.lengths[s] - scene.n_queries[s]; i < scene.lengths[s]; ++i) {
      const auto row = reference(scene, static_cast<int>(s), i);
      all.insert(all.end(), row.begin(), row.end());
    }
  }
  return all;
}

std::vector<std::pair<const char*, Scene>> scenes() {
  std::vector<std::pair<const char*, Scene>> all;
  const AttentionParams base = Scene{}.params;
  const auto add = [&](const char* name, AttentionParams params, std::vector<int> lengths, std::vector<int> n_queries,
                       DType type = DType::f32) {
    all.emplace_back(name, Scene{params, type, std::move(lengths), std::move(n_queries), 1});
  };
  add("one position", base, {1}, {1});
  add("a whole prompt", base, {70}, {70});
  add("a prompt over two chunks", base, {300}, {300});
  add("decode at depth", base, {1100}, {1});
  add("f16", base, {300}, {37}, DType::f16);
  add("several sequences", base, {300, 1, 65, 520}, {1, 1, 65, 4}, DType::f16);
  AttentionParams p = base;
  p.n_head = 3;
  p.n_head_kv = 1;
  p.head_dim = 67;
  p.head_dim_v = 21;
  add("odd sizes, one KV head", p, {280}, {9});
  add("odd sizes in f16", p, {280}, {9}, DType::f16);
  p = base;
  p.window = 100;
  add("window", p, {700}, {300});
  p.window = 1;
  add("a window of one", p, {300}, {3});
  p = base;
  p.soft_cap = 2.0f;
  add("soft cap", p, {300}, {5});
  p = base;
  p.n_head = 6;
  p.alibi_max_bias = 8.0f;
  add("alibi, heads no power of two", p, {300}, {5});
  p = base;
  p.head_dim = 256;
  p.head_dim_v = 256;
  add("wide heads", p, {260}, {2});
  p.n_head = 40;
  add("more query heads than a tile has rows", p, {70}, {3});
  return all;
}

TEST(Attention, EqualsSoftmaxInDoublePrecision) {
  for (const auto& [name, scene] : scenes()) {
    SCOPED_TRACE(name);
    const auto expected = reference(scene);
    const auto actual = AttentionRun(scene).run(2);
    ASSERT_EQ(actual.size(), expected.size());
    // Scores are sums of up to 256 products of values up to 2, errors of a few 1e-6; results are averages of values up
    // to 2.
    for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(static_cast<double>(actual[i]), expected[i], 2e-5) << i;
  }
}

TEST(AttentionExact, EveryInstructionSetAndThreadCountGivesTheSameBytes) {
  for (const auto& [name, scene] : scenes()) {
    SCOPED_TRACE(name);
    const auto expected = AttentionRun(scene, cpu::Isa::scalar).run(1);
    for (const cpu::Isa isa : test::host_isas()) {
      SCOPED_TRACE(cpu::kernel_table(isa).name);
      AttentionRun run(scene, isa);
      for (const int n_threads : {1, 2, 3, 8}) EXPECT_EQ(run.run(n_threads), expected) << n_threads;
    }
  }
}

TEST(AttentionExact, ARowDoesNotDependOnItsBatch) {
  for (auto [name, scene] : scenes()) {
    SCOPED_TRACE(name);
    const size_t width = static_cast<size_t>(scene.params.n_head * scene.params.head_dim_v);
    const auto together = AttentionRun(scene).run(3);
    Scene alone = scene;
    alone.n_queries = std::vector<int>(scene.lengths.size(), 0);
    alone.n_queries.back() = 1;
    const auto last = AttentionRun(alone).run(2);
    ASSERT_EQ(last.size(), width);
    EXPECT_TRUE(std::equal(last.begin(), last.end(), together.end() - static_cast<std::ptrdiff_t>(width)));
  }
}

TEST(Attention, HiddenPositionsContributeNothingEvenWhenTheyAreNan) {
  Scene scene;
  scene.lengths = {330};
  scene.n_queries = {1};
  const auto expected = AttentionRun(scene).run(1);
  AttentionRun later(scene);
  later.poison(0, 330);
  EXPECT_EQ(later.run(2), expected);

  scene.lengths = {200};
  scene.n_queries = {100};
  scene.params.window = 30;
  AttentionRun causal(scene);
  auto clean = causal.run(1);
  causal.poison(0, 150);  // queries 100 .. 149 see nothing of it
  auto dirty = causal.run(1);
  const auto seen = static_cast<size_t>(50 * scene.params.n_head * scene.params.head_dim_v);
  clean.resize(seen);
  dirty.resize(seen);
  EXPECT_EQ(dirty, clean);
}

TEST(Attention, AMissingPageIsHidden) {
  Scene scene;
  scene.lengths = {200};
  scene.n_queries = {1};
  scene.params.window = 72;  // sees 128 .. 199
  const auto expected = AttentionRun(scene).run(1);
  scene.params.window = 0;
  AttentionRun run(scene);
  run.drop_page(0, 0);
  run.drop_page(0, 1);
  EXPECT_EQ(run.run(2), expected);
}

TEST(Attention, NothingVisibleGivesZeros) {
  Scene scene;
  scene.lengths = {20};
  scene.n_queries = {2};
  AttentionRun run(scene);
  run.drop_page(0, 0);
  const auto result = run.run(2);
  EXPECT_EQ(result, std::vector<float>(result.size(), 0.0f));
}

TEST(Attention, StoredRowsAreReadBack) {
  for (const DType type : {DType::f32, DType::f16}) {
    Scene scene;
    scene.kv_type = type;
    scene.lengths = {10, 130};
    AttentionRun run(scene);
    const auto rows = run.load({129, 3, 1000, 7}, {1, 0, 0, 1});
    const AttentionParams& p = scene.params;
    const auto width = static_cast<size_t>(p.n_head_kv * (p.head_dim + p.head_dim_v));
    const auto half = static_cast<int>(width / 2);
    const int places[4][2] = {{1, 129}, {0, 3}, {-1, 0}, {1, 7}};
    for (size_t r = 0; r < 4; ++r) {
      for (int i = 0; i < static_cast<int>(width); ++i) {
        const auto [s, position] = places[r];
        const double expected =
            s < 0 ? 0.0 : rounded(type, i < half ? element(1, s, position, i) : element(2, s, position, i - half));
        ASSERT_EQ(static_cast<double>(rows[r * width + static_cast<size_t>(i)]), expected) << r << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace brisk
