#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "graph_runner.hpp"
#include "quant/codec.hpp"

namespace brisk {
namespace {

using Values = std::vector<double>;

/// One op on a shape [n, m], by graph and by formula.
struct OpCase {
  const char* name;
  std::function<TensorRef(Graph&, GraphRunner&, TensorRef x, TensorRef y, TensorRef row)> build;
  /// From rows x and y and one row w of the same width.
  std::function<Values(const Values& x, const Values& y, const Values& w)> row;
  double tolerance;
};

double silu(double v) { return v / (1 + std::exp(-v)); }

Values each(const Values& x, const std::function<double(size_t)>& fn) {
  Values out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = fn(i);
  return out;
}

double mean_square(const Values& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum / static_cast<double>(x.size());
}

double mean(const Values& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

std::vector<OpCase> op_cases() {
  return {
      {"add", [](auto& g, auto&, auto x, auto y, auto) { return add(g, x, y); },
       [](auto& x, auto& y, auto&) { return each(x, [&](size_t i) { return x[i] + y[i]; }); }, 1e-6},
      {"add of one row", [](auto& g, auto&, auto x, auto, auto w) { return add(g, x, w); },
       [](auto& x, auto&, auto& w) { return each(x, [&](size_t i) { return x[i] + w[i]; }); }, 1e-6},
      {"mul", [](auto& g, auto&, auto x, auto y, auto) { return mul(g, x, y); },
       [](auto& x, auto& y, auto&) { return each(x, [&](size_t i) { return x[i] * y[i]; }); }, 1e-6},
      {"mul by one row", [](auto& g, auto&, auto x, auto, auto w) { return mul(g, x, w); },
       [](auto& x, auto&, auto& w) { return each(x, [&](size_t i) { return x[i] * w[i]; }); }, 1e-6},
      {"scale", [](auto& g, auto&, auto x, auto, auto) { return scale(g, x, 0.125f); },
       [](auto& x, auto&, auto&) { return each(x, [&](size_t i) { return x[i] * 0.125; }); }, 1e-6},
      {"soft_cap", [](auto& g, auto&, auto x, auto, auto) { return soft_cap(g, x, 2.0f); },
       [](auto& x, auto&, auto&) { return each(x, [&](size_t i) { return 2 * std::tanh(x[i] / 2); }); }, 1e-6},
      {"activate", [](auto& g, auto&, auto x, auto, auto) { return activate(g, x, Activation::silu); },
       [](auto& x, auto&, auto&) { return each(x, [&](size_t i) { return silu(x[i]); }); }, 1e-6},
      {"gated", [](auto& g, auto&, auto x, auto y, auto) { return gated(g, x, y, Activation::silu); },
       [](auto& x, auto& y, auto&) { return each(x, [&](size_t i) { return silu(x[i]) * y[i]; }); }, 4e-6},
      {"rms_norm", [](auto& g, auto&, auto x, auto, auto w) { return rms_norm(g, x, w, 1e-5f); },
       [](auto& x, auto&, auto& w) {
         const double s = 1 / std::sqrt(mean_square(x) + 1e-5);
         return each(x, [&](size_t i) { return x[i] * s * w[i]; });
       },
       4e-6},
      {"layer_norm", [](auto& g, auto&, auto x, auto, auto w) { return layer_norm(g, x, w, w, 1e-5f); },
       [](auto& x, auto&, auto& w) {
         const double center = mean(x);
         const Values d = each(x, [&](size_t i) { return x[i] - center; });
         const double s = 1 / std::sqrt(mean_square(d) + 1e-5);
         return each(x, [&](size_t i) { return d[i] * s * w[i] + w[i]; });
       },
       4e-6},
  };
}

Values row_of(const std::vector<float>& all, int64_t row, int64_t n) {
  Values out;
  for (int64_t i = row * n; i < (row + 1) * n; ++i) out.push_back(static_cast<double>(all[static_cast<size_t>(i)]));
  return out;
}

TEST(Ops, RowOpsEqualTheirFormulas) {
  GraphRunner runner;
  for (const OpCase& c : op_cases()) {
    // Few values stay on one thread; long rows are cut by columns, many rows by rows.
    for (const auto& [n, m] : {std::pair<int64_t, int64_t>{64, 3}, {67, 1}, {40001, 1}, {40001, 3}, {100, 400}}) {
      SCOPED_TRACE(std::string(c.name) + " " + std::to_string(n) + " x " + std::to_string(m));
      const auto x = random_floats(static_cast<size_t>(n * m), 1);
      const auto y = random_floats(static_cast<size_t>(n * m), 2);
      const auto w = random_floats(static_cast<size_t>(n), 3);
      Graph g;
      const TensorRef result = c.build(g, runner, g.store(runner.floats({n, m}, x)), g.store(runner.floats({n, m}, y)),
                                       g.store(runner.floats({n}, w)));
      const auto actual = runner.run(std::move(g), result, 3);
      for (int64_t r = 0; r < m; ++r) {
        const Values expected = c.row(row_of(x, r, n), row_of(y, r, n), row_of(w, 0, n));
        for (int64_t i = 0; i < n; ++i) {
          const double value = expected[static_cast<size_t>(i)];
          ASSERT_NEAR(static_cast<double>(actual[static_cast<size_t>(r * n + i)]), value,
                      c.tolerance * (1 + std::fabs(value)));
        }
      }
    }
  }
}

/// Operands that are columns of a wider result give what copies of them give.
TEST(Ops, ColumnViewsAreReadByTheirStride) {
  GraphRunner runner;
  constexpr int64_t kWidth = 96;
  constexpr int64_t kRows = 200;
  const auto wide = random_floats(kWidth * kRows, 1);
  std::vector<float> left, right;
  for (int64_t r = 0; r < kRows; ++r) {
    left.insert(left.end(), wide.begin() + r * kWidth, wide.begin() + r * kWidth + 32);
    right.insert(right.end(), wide.begin() + r * kWidth + 32, wide.begin() + r * kWidth + 64);
  }
  const auto table = random_floats(8 * kRows, 5);
  const std::vector<int32_t> ids = {3, 199, 0};
  const auto w = random_floats(8, 4);
  const std::vector<std::function<TensorRef(Graph&, TensorRef, TensorRef)>> builds = {
      [](Graph& g, TensorRef x, TensorRef y) { return add(g, x, y); },
      [](Graph& g, TensorRef x, TensorRef y) { return mul(g, x, y); },
      [](Graph& g, TensorRef x, TensorRef y) { return gated(g, x, y, Activation::gelu_tanh); },
      [](Graph& g, TensorRef x, TensorRef) { return activate(g, x, Activation::gelu_erf); },
      [&](Graph& g, TensorRef x, TensorRef) { return rms_norm(g, x, g.store(runner.floats({8}, w)), 1e-6f); },
      [&](Graph& g, TensorRef x, TensorRef) {
        return rope(g, x, g.store(runner.floats({8, kRows}, table)), 16, RopeLayout::neox);
      },
      [&](Graph& g, TensorRef x, TensorRef) { return select_rows(g, x, g.store(runner.ids(ids))); },
      [&](Graph& g, TensorRef x, TensorRef) {
        return matmul(g, g.store(runner.float_weight({32, 20}, random_floats(640, 9))), x);
      },
  };
  for (size_t i = 0; i < builds.size(); ++i) {
    Graph a;
    const TensorRef base = scale(a, a.store(runner.floats({kWidth, kRows}, wide)), 1.0f);
    const TensorRef viewed = builds[i](a, a.view_columns(base, 0, 32), a.view_columns(base, 32, 32));
    Graph b;
    const TensorRef copied =
        builds[i](b, b.store(runner.floats({32, kRows}, left)), b.store(runner.floats({32, kRows}, right)));
    EXPECT_EQ(runner.run(std::move(a), viewed, 2), runner.run(std::move(b), copied, 2)) << i;
  }
}

TEST(Ops, RmsNormOfHeadsTakesEachRunByItself) {
  GraphRunner runner;
  const auto x = random_floats(48 * 5, 1);
  const auto w = random_floats(16, 2);
  Graph heads;
  const TensorRef a =
      rms_norm(heads, heads.store(runner.floats({48, 5}, x)), heads.store(runner.floats({16}, w)), 1e-6f);
  Graph rows;
  const TensorRef b = rms_norm(rows, rows.store(runner.floats({16, 15}, x)), rows.store(runner.floats({16}, w)), 1e-6f);
  EXPECT_EQ(runner.run(std::move(heads), a), runner.run(std::move(rows), b));
}

TEST(Ops, SigmoidMulScalesEachRow) {
  GraphRunner runner;
  const auto gate = random_floats(300, 1, 3.0f);
  const auto x = random_floats(300 * 70, 2);
  Graph g;
  const TensorRef result = sigmoid_mul(g, g.store(runner.floats({1, 300}, gate)), g.store(runner.floats({70, 300}, x)));
  const auto actual = runner.run(std::move(g), result, 2);
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = static_cast<double>(x[i]) / (1 + std::exp(-static_cast<double>(gate[i / 70])));
    ASSERT_NEAR(static_cast<double>(actual[i]), expected, 1e-6 * (1 + std::fabs(expected)));
  }
}

TEST(Ops, RowsOfATableAreDecodedWhetherPackedOrPlain) {
  GraphRunner runner;
  for (const DType type : test::kWeightTypes) {
    std::mt19937 random(1);
    const auto bytes = test::random_rows(type, 37, 256, random);
    std::vector<float> decoded(37 * 256);
    decode(type, bytes.data(), decoded);
    const std::vector<int32_t> ids = {36, 0, 17, 17, 5};
    for (const bool rows_only : {false, true}) {
      Graph g;
      const TensorRef result =
          embed_rows(g, g.store(runner.weight(type, {256, 37}, bytes, rows_only)), g.store(runner.ids(ids)));
      const auto actual = runner.run(std::move(g), result, 2);
      for (size_t i = 0; i < ids.size(); ++i) {
        const auto row = decoded.begin() + ids[i] * 256;
        EXPECT_TRUE(std::equal(row, row + 256, actual.begin() + static_cast<std::ptrdiff_t>(i) * 256))
            << traits(type).name;
      }
    }
  }
}

TEST(Ops, AnIdOutsideItsTableIsAnError) {
  GraphRunner runner;
  for (const int32_t id : {-1, 4}) {
    Graph g;
    const TensorRef result =
        embed_rows(g, g.store(runner.float_weight({32, 4}, random_floats(128, 1))), g.store(runner.ids({0, id})));
    EXPECT_THROW(runner.run(std::move(g), result, 2), Error);
    Graph h;
    const TensorRef rows =
        select_rows(h, h.store(runner.floats({32, 4}, random_floats(128, 1))), h.store(runner.ids({id})));
    EXPECT_THROW(runner.run(std::move(h), rows), Error);
  }
}

// Rotary embedding.

double plain_angle(const RopeTableParams& p, int32_t position, int pair) {
  return position * static_cast<double>(p.freq_scale) *
         std::pow(static_cast<double>(p.freq_base), -2.0 * pair / p.n_rot);
}

/// YaRN as in the paper's formulas.
double yarn_angle(const RopeTableParams& p, int32_t position, int pair) {
  const double base = static_cast<double>(p.freq_base);
  const auto corr = [&](double turns) {
    return p.n_rot * std::log(p.n_ctx_orig / (2 * M_PI * turns)) / (2 * std::log(base));
  };
  const double low = std::max(0.0, std::floor(corr(static_cast<double>(p.beta_fast))));
  const double high = std::min(p.n_rot - 1.0, std::ceil(corr(static_cast<double>(p.beta_slow))));
  const double ramp = 1 - std::clamp((pair - low) / std::max(0.001, high - low), 0.0, 1.0);
  const double mix = ramp * static_cast<double>(p.ext_factor);
  const double extrapolated = position * std::pow(base, -2.0 * pair / p.n_rot);
  return extrapolated * static_cast<double>(p.freq_scale) * (1 - mix) + extrapolated * mix;
}

TEST(Ops, RopeTableHoldsCosinesAndSines) {
  GraphRunner runner;
  const std::vector<int32_t> positions = {0, 1, 5, 1000, 131071, -3, -70000};
  RopeTableParams plain{.n_rot = 64, .freq_base = 10000.0f};
  RopeTableParams linear = plain;
  linear.freq_scale = 0.25f;
  linear.attn_factor = 1.19f;
  RopeTableParams yarn = linear;
  yarn.ext_factor = 1.0f;
  yarn.n_ctx_orig = 4096;
  const auto factors = random_floats(32, 3, 0.1f);
  for (const RopeTableParams& p : {plain, linear, yarn}) {
    for (const bool divided : {false, true}) {
      std::vector<float> divisors(32);
      for (size_t i = 0; i < 32; ++i) divisors[i] = divided ? 2.0f + factors[i] : 1.0f;
      Graph g;
      const TensorRef table = rope_table(g, g.store(runner.ids(positions)),
                                         divided ? g.store(runner.floats({32}, divisors)) : TensorRef{}, p);
      const auto actual = runner.run(std::move(g), table, 2);
      for (size_t i = 0; i < positions.size() * 32; ++i) {
        const int pair = static_cast<int>(i % 32);
        const int32_t position = positions[i / 32];
        const double full = p.ext_factor != 0.0f ? yarn_angle(p, position, pair) : plain_angle(p, position, pair);
        const double angle = full / static_cast<double>(divisors[static_cast<size_t>(pair)]);
        const auto factor = static_cast<double>(p.attn_factor);
        ASSERT_NEAR(static_cast<double>(actual[2 * i]), std::cos(angle) * factor, 1.3e-7) << position << " " << pair;
        ASSERT_NEAR(static_cast<double>(actual[2 * i + 1]), std::sin(angle) * factor, 1.3e-7)
            << position << " " << pair;
      }
    }
  }
}

TEST(Ops, RopeRotatesTheFirstValuesOfEachHead) {
  GraphRunner runner;
  constexpr int64_t kHead = 80;
  constexpr int64_t kHeads = 3;
  constexpr int64_t kRows = 50;
  for (const int64_t n_rot : {80, 64, 34, 2}) {
    for (const RopeLayout layout : {RopeLayout::norm, RopeLayout::neox}) {
      const auto x = random_floats(kHead * kHeads * kRows, 1);
      const auto table = random_floats(static_cast<size_t>(n_rot * kRows), 2);
      Graph g;
      const TensorRef result = rope(g, g.store(runner.floats({kHead * kHeads, kRows}, x)),
                                    g.store(runner.floats({n_rot, kRows}, table)), kHead, layout);
      const auto actual = runner.run(std::move(g), result, 2);
      std::vector<double> expected(x.begin(), x.end());
      for (int64_t head = 0; head < kHeads * kRows; ++head) {
        for (int64_t i = 0; i < n_rot / 2; ++i) {
          const auto a = static_cast<size_t>(head * kHead + (layout == RopeLayout::norm ? 2 * i : i));
          const size_t b = layout == RopeLayout::norm ? a + 1 : a + static_cast<size_t>(n_rot / 2);
          const auto at = static_cast<size_t>(head / kHeads * n_rot + 2 * i);
          const double c = static_cast<double>(table[at]);
          const double s = static_cast<double>(table[at + 1]);
          expected[a] = static_cast<double>(x[a]) * c - static_cast<double>(x[b]) * s;
          expected[b] = static_cast<double>(x[a]) * s + static_cast<double>(x[b]) * c;
        }
      }
      for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(static_cast<double>(actual[i]), expected[i], 2e-6);
    }
  }
}

// Products.

std::vector<double> product(const std::vector<float>& w, const std::vector<float>& x, int64_t n, int64_t k) {
  std::vector<double> y;
  for (size_t t = 0; t < x.size() / static_cast<size_t>(k); ++t) {
    for (int64_t r = 0; r < n; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        sum += static_cast<double>(w[static_cast<size_t>(r * k + i)]) *
               static_cast<double>(x[t * static_cast<size_t>(k) + static_cast<size_t>(i)]);
      }
      y.push_back(sum);
    }
  }
  return y;
}

TEST(Ops, MatmulStacksWeightsAndAddsTheirBiases) {
  GraphRunner runner;
  constexpr int64_t kIn = 96;
  for (const int64_t m : {1, 5, 16, 40, 600}) {
    const auto x = random_floats(static_cast<size_t>(kIn * m), 1);
    const auto a = random_floats(33 * kIn, 2);
    const auto b = random_floats(kIn, 3);  // one row
    const auto c = random_floats(64 * kIn, 4);
    const auto bias = random_floats(64, 5);
    Graph g;
    const TensorRef weights[] = {g.store(runner.float_weight({kIn, 33}, a)), g.store(runner.float_weight({kIn, 1}, b)),
                                 g.store(runner.float_weight({kIn, 64}, c))};
    const TensorRef biases[] = {TensorRef{}, TensorRef{}, g.store(runner.floats({64}, bias))};
    const TensorRef result = matmul(g, weights, g.store(runner.floats({kIn, m}, x)), biases);
    const auto actual = runner.run(std::move(g), result, 3);
    const auto ya = product(a, x, 33, kIn);
    const auto yb = product(b, x, 1, kIn);
    const auto yc = product(c, x, 64, kIn);
    for (int64_t t = 0; t < m; ++t) {
      for (int64_t i = 0; i < 98; ++i) {
        const double expected = i < 33    ? ya[static_cast<size_t>(t * 33 + i)]
                                : i == 33 ? yb[static_cast<size_t>(t)]
                                          : yc[static_cast<size_t>(t * 64 + i - 34)] +
                                                static_cast<double>(bias[static_cast<size_t>(i - 34)]);
        ASSERT_NEAR(static_cast<double>(actual[static_cast<size_t>(t * 98 + i)]), expected, 3e-5) << t << " " << i;
      }
    }
  }
}

TEST(OpsExact, MatmulOfMixedTypesEqualsSingleProducts) {
  constexpr int64_t kIn = 256;
  const DType types[] = {DType::q4_0, DType::q6_k, DType::f16, DType::q4_1, DType::iq2_xs};
  for (const int64_t m : {1, 37}) {
    const auto x = random_floats(static_cast<size_t>(kIn * m), 1);
    std::vector<std::vector<float>> expected;
    for (const cpu::Isa isa : test::host_isas()) {
      GraphRunner runner(isa);
      std::mt19937 random(5);
      Graph all;
      std::vector<TensorRef> weights;
      std::vector<std::vector<float>> single;
      for (const DType type : types) {
        const TensorStorage w = runner.weight(type, {kIn, 40}, test::random_rows(type, 40, kIn, random));
        weights.push_back(all.store(w));
        Graph one;
        const TensorRef y = matmul(one, one.store(w), one.store(runner.floats({kIn, m}, x)));
        single.push_back(runner.run(std::move(one), y));
      }
      const TensorRef y = matmul(all, weights, all.store(runner.floats({kIn, m}, x)));
      const auto together = runner.run(std::move(all), y, 3);
      for (size_t i = 0; i < together.size(); ++i) {
        const size_t column = i % 200;
        ASSERT_EQ(together[i], single[column / 40][i / 200 * 40 + column % 40]);
      }
      expected.push_back(together);
      EXPECT_EQ(expected.front(), together) << cpu::kernel_table(isa).name;
    }
  }
}

// Mixture of experts.

struct MoeScene {
  int64_t n = 64, n_ff = 48, n_expert = 6, m = 1;
  MoeParams params{2, ExpertGating::softmax, true, 1.0f, Activation::silu};
  std::vector<float> x, logits, gate, up, down;

  MoeScene(int64_t tokens, MoeParams moe) : m(tokens), params(moe) {
    x = random_floats(static_cast<size_t>(n * m), 1);
    logits = random_floats(static_cast<size_t>(n_expert * m), 2, 2.0f);
    gate = random_floats(static_cast<size_t>(n * n_ff * n_expert), 3, 0.3f);
    up = random_floats(static_cast<size_t>(n * n_ff * n_expert), 4, 0.3f);
    down = random_floats(static_cast<size_t>(n * n_ff * n_expert), 5, 0.3f);
  }

  std::vector<float> run(int n_threads, std::optional<cpu::Isa> isa = {}) const {
    GraphRunner runner(isa);
    Graph g;
    const ExpertWeights experts{g.store(runner.float_weight({n, n_ff, n_expert}, gate)),
                                g.store(runner.float_weight({n, n_ff, n_expert}, up)),
                                g.store(runner.float_weight({n_ff, n, n_expert}, down))};
    const TensorRef result =
        moe_ffn(g, g.store(runner.floats({n, m}, x)), g.store(runner.floats({n_expert, m}, logits)), experts, params);
    return runner.run(std::move(g), result, n_threads);
  }

  [[nodiscard]] Values scores(int64_t token) const {
    Values s = row_of(logits, token, n_expert);
    double total = 0;
    for (const double v : s) total += std::exp(v);
    for (double& v : s) {
      if (params.gating == ExpertGating::softmax) v = std::exp(v) / total;
      if (params.gating == ExpertGating::sigmoid) v = 1 / (1 + std::exp(-v));
    }
    return s;
  }

  /// Weight of each expert for the token, 0 where it is not used.
  [[nodiscard]] Values weights(int64_t token) const {
    const Values score = scores(token);
    std::vector<size_t> order(static_cast<size_t>(n_expert));
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score[a] > score[b]; });
    order.resize(static_cast<size_t>(params.n_used));
    double total = 0;
    for (const size_t e : order)
      total += params.gating == ExpertGating::softmax_selected ? std::exp(score[e]) : score[e];
    Values w(static_cast<size_t>(n_expert), 0.0);
    for (const size_t e : order) {
      const double value = params.gating == ExpertGating::softmax_selected ? std::exp(score[e]) / total : score[e];
      const bool divide = params.norm_weights && params.gating != ExpertGating::softmax_selected;
      w[e] = value / (divide ? total : 1.0) * static_cast<double>(params.weight_scale);
    }
    return w;
  }

  [[nodiscard]] Values expert(int64_t token, size_t e) const {
    const auto part = [&](const std::vector<float>& all) {
      const auto size = static_cast<std::ptrdiff_t>(n * n_ff);
      return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(e) * size,
                                all.begin() + (static_cast<std::ptrdiff_t>(e) + 1) * size);
    };
    const std::vector<float> row(x.begin() + token * n, x.begin() + (token + 1) * n);
    const auto g = product(part(gate), row, n_ff, n);
    const auto u = product(part(up), row, n_ff, n);
    std::vector<float> h;
    for (size_t i = 0; i < g.size(); ++i) h.push_back(static_cast<float>(silu(g[i]) * u[i]));
    return product(part(down), h, n, n_ff);
  }
};

std::vector<MoeParams> moe_settings() {
  return {
      {2, ExpertGating::softmax, true, 1.0f, Activation::silu},
      {3, ExpertGating::softmax, false, 1.0f, Activation::silu},
      {2, ExpertGating::sigmoid, true, 2.5f, Activation::silu},
      {4, ExpertGating::softmax_selected, false, 1.0f, Activation::silu},
      {6, ExpertGating::softmax, true, 1.0f, Activation::silu},
  };
}

TEST(Ops, MoeEqualsTheWeightedSumOfItsExperts) {
  for (const MoeParams& params : moe_settings()) {
    for (const int64_t m : {1, 2, 40}) {
      const MoeScene scene(m, params);
      const auto actual = scene.run(2);
      for (int64_t t = 0; t < m; ++t) {
        const Values weights = scene.weights(t);
        Values expected(static_cast<size_t>(scene.n), 0.0);
        for (size_t e = 0; e < weights.size(); ++e) {
          if (weights[e] == 0.0) continue;
          const Values y = scene.expert(t, e);
          for (size_t i = 0; i < y.size(); ++i) expected[i] += weights[e] * y[i];
        }
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(static_cast<double>(actual[static_cast<size_t>(t * scene.n) + i]), expected[i], 2e-4);
      }
    }
  }
}

TEST(OpsExact, MoeGivesEachTokenTheBytesItHasAlone) {
  for (const MoeParams& params : moe_settings()) {
    const MoeScene all(40, params);
    const auto expected = all.run(1, cpu::Isa::scalar);
    for (const cpu::Isa isa : test::host_isas()) {
      for (const int n_threads : {1, 3}) EXPECT_EQ(all.run(n_threads, isa), expected);
    }
    for (const int64_t t : {0, 7, 39}) {
      MoeScene one(1, params);
      one.x.assign(all.x.begin() + t * all.n, all.x.begin() + (t + 1) * all.n);
      one.logits.assign(all.logits.begin() + t * all.n_expert, all.logits.begin() + (t + 1) * all.n_expert);
      const auto actual = one.run(2);
      EXPECT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin() + t * all.n)) << t;
    }
  }
}

}  // namespace
}  // namespace brisk
