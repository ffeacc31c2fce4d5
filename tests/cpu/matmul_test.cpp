#include "cpu/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "weights.hpp"

namespace brisk::test {
extern const cpu::MatmulKernels kAvx2VnniTwin;  // avx2_vnni_twin.cpp
}

namespace brisk::cpu {
namespace {

using test::AlignedBytes;
using test::kWeightTypes;

struct Shape3 {
  int64_t n;
  int64_t k;
  int64_t tokens;
};

/// Random weights of one type, random activations, and the means to multiply them in several ways.
class Problem {
 public:
  Problem(DType dtype, Shape3 shape, uint32_t seed) : dtype_(dtype), shape_(shape), random_(seed) {
    rows_ = test::random_rows(dtype, shape.n, shape.k, random_);
    packed_ = test::pack_matrix(dtype, rows_, shape.n, shape.k);
    x_.resize(static_cast<size_t>(shape.tokens * shape.k));
    std::normal_distribution<float> normal;
    for (float& value : x_) value = normal(random_);
    // A row whose blocks differ in size by orders of magnitude, zeros among them.
    for (int64_t e = 0; e < shape.k; ++e)
      x_[static_cast<size_t>(e)] *= std::ldexp(1.0f, static_cast<int>(e / 32 % 5) * 7 - 20);
    for (int64_t e = 0; e < 32; ++e) x_[static_cast<size_t>(e)] = 0.0f;
  }

  [[nodiscard]] const Shape3& shape() const { return shape_; }
  [[nodiscard]] std::span<const std::byte> rows() const { return rows_; }
  std::vector<float>& x() { return x_; }

  [[nodiscard]] AlignedBytes activations(const KernelTable& table) const {
    const ActivationFormat format = activation_format(pack_format(dtype_));
    AlignedBytes out = test::aligned_bytes(activation_bytes(format, shape_.tokens, shape_.k));
    const ActivationSource source{x_.data(), shape_.k, nullptr, shape_.tokens, shape_.k, 0};
    // Tile by tile, last one first: packing a tile depends on no other.
    for (int64_t tile = tile_count(shape_.tokens) - 1; tile >= 0; --tile) {
      pack_activations(table, format, source, tile, tile + 1, out.get());
    }
    return out;
  }

  [[nodiscard]] std::vector<float> multiply(const KernelTable& table, bool packed, int64_t group_step = 1 << 20,
                                            int64_t tile_step = 1 << 20) const {
    const PackFormat format = pack_format(dtype_);
    const AlignedBytes x = activations(table);
    const ActivationView view{activation_format(format), x.get(), shape_.tokens, shape_.k};
    const MatrixView w{dtype_, format, packed ? packed_.get() : rows_.data(), shape_.n, shape_.k, packed};
    const AlignedBytes scratch = test::aligned_bytes(matmul_scratch_bytes(w));
    const int64_t ld = shape_.n + 3;
    std::vector<float> y(static_cast<size_t>(shape_.tokens * ld), kUntouched);
    for (int64_t g = 0; g < group_count(shape_.n); g += group_step) {
      for (int64_t t = 0; t < tile_count(shape_.tokens); t += tile_step) {
        const MatmulRange range{g, std::min(g + group_step, group_count(shape_.n)), t,
                                std::min(t + tile_step, tile_count(shape_.tokens))};
        matmul_groups(table, w, view, {y.data(), ld, nullptr}, range, scratch.get());
      }
    }
    return y;
  }

  static constexpr float kUntouched = -77.0f;

 private:
  DType dtype_;
  Shape3 shape_;
  std::mt19937 random_;
  std::vector<std::byte> rows_;
  AlignedBytes packed_;
  std::vector<float> x_;
};

bool wide16(DType dtype) {
  switch (dtype) {
    case DType::q2_k:
    case DType::q3_k:
    case DType::q6_k:
    case DType::iq2_xs:
    case DType::iq2_s:
    case DType::iq1_m:
    case DType::nvfp4:
      return true;
    default:
      return false;
  }
}

bool has_min(DType dtype) {
  return dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q2_k || dtype == DType::q4_k ||
         dtype == DType::q5_k;
}

struct Quantized {
  int q[32];
  float scale;
};

Quantized quantize(const float* x) {
  Quantized out{};
  float amax = 0.0f;
  for (int i = 0; i < 32; ++i) amax = std::fmax(amax, std::fabs(x[i]));
  out.scale = amax / 127.0f;
  const float inverse = out.scale > 0.0f ? 1.0f / out.scale : 0.0f;
  for (int i = 0; i < 32; ++i) out.q[i] = static_cast<int>(std::nearbyint(x[i] * inverse));
  return out;
}

/// The definition of a quantised product, written down once more: design section 5 over decode_levels().
float definition(DType dtype, const std::byte* row, const float* x, int64_t k) {
  float acc = 0.0f;
  for (int64_t block = 0; block < k / 32; ++block) {
    Levels w;
    decode_levels(dtype, row, block, w);
    const Quantized a = quantize(x + 32 * block);
    const int width = wide16(dtype) ? 16 : 32;
    for (int first = 0; first < 32; first += width) {
      int dot = 0;
      int sum = 0;
      for (int i = first; i < first + width; ++i) {
        dot += w.q[i] * a.q[i];
        sum += a.q[i];
      }
      acc = std::fma(w.scale[first / 16] * a.scale, static_cast<float>(dot), acc);
      if (has_min(dtype)) acc = std::fma(w.min[first / 16], a.scale * static_cast<float>(sum), acc);
    }
  }
  return acc;
}

float float_definition(DType dtype, const std::byte* row, const float* x, int64_t k) {
  std::vector<float> w(static_cast<size_t>(k));
  decode(dtype, row, w);
  float acc = 0.0f;
  for (int64_t e = 0; e < k; ++e) acc = std::fma(w[static_cast<size_t>(e)], x[e], acc);
  return acc;
}

int64_t unit_of_k(DType dtype) { return std::max<int64_t>(32, traits(dtype).block_length); }

/// Bits, and NaN equal to NaN whatever its payload.
::testing::AssertionResult same(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) {
      return ::testing::AssertionFailure() << "value " << i << ": " << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

std::string describe(DType dtype, const Shape3& shape, const KernelTable& table) {
  return std::string(traits(dtype).name) + " n " + std::to_string(shape.n) + " k " + std::to_string(shape.k) +
         " tokens " + std::to_string(shape.tokens) + " " + table.name;
}

TEST(Matmul, ScalarKernelsEqualTheDefinition) {
  const KernelTable& table = kernel_table(Isa::scalar);
  for (const DType dtype : kWeightTypes) {
    const Problem problem(dtype, {19, 3 * unit_of_k(dtype), 17}, 11);
    const Shape3& shape = problem.shape();
    const std::vector<float> y = problem.multiply(table, true);
    Problem copy(dtype, shape, 11);
    for (int64_t t = 0; t < shape.tokens; ++t) {
      const float* x = copy.x().data() + t * shape.k;
      for (int64_t r = 0; r < shape.n; ++r) {
        const std::byte* row = problem.rows().data() + bytes_of(dtype, static_cast<uint64_t>(r * shape.k));
        const float want =
            traits(dtype).quantized ? definition(dtype, row, x, shape.k) : float_definition(dtype, row, x, shape.k);
        const float got = y[static_cast<size_t>(t * (shape.n + 3) + r)];
        ASSERT_EQ(std::memcmp(&want, &got, sizeof want), 0)
            << describe(dtype, shape, table) << " token " << t << " row " << r << ": " << want << " and " << got;
      }
    }
  }
}

TEST(Matmul, ResultsAreCloseToTheExactProduct) {
  // Guards the definition itself: int8 activations in blocks of 32 are within 1 % of the product's own size.
  for (const DType dtype : kWeightTypes) {
    Problem problem(dtype, {16, 4 * unit_of_k(dtype), 3}, 12);
    const Shape3& shape = problem.shape();
    const std::vector<float> y = problem.multiply(kernel_table(best_isa()), true);
    std::vector<float> w(static_cast<size_t>(shape.n * shape.k));
    decode(dtype, problem.rows().data(), w);
    for (int64_t t = 1; t < shape.tokens; ++t) {
      for (int64_t r = 0; r < shape.n; ++r) {
        double exact = 0;
        double size = 0;
        for (int64_t e = 0; e < shape.k; ++e) {
          const double term =
              double{w[static_cast<size_t>(r * shape.k + e)]} * problem.x()[static_cast<size_t>(t * shape.k + e)];
          exact += term;
          size += std::fabs(term);
        }
        EXPECT_NEAR(y[static_cast<size_t>(t * (shape.n + 3) + r)], exact, 0.01 * size + 1e-30) << traits(dtype).name;
      }
    }
  }
}

/// Blocks and tokens of every kind of remainder; k in units of the type's block length.
constexpr Shape3 kEdgeShapes[] = {{1, 1, 1}, {16, 2, 2}, {17, 1, 15}, {67, 3, 16}, {32, 1, 67}, {5, 5, 7}, {23, 1, 31}};

void expect_equal_to_scalar(DType dtype, Shape3 shape, std::span<const KernelTable* const> tables) {
  shape.k *= unit_of_k(dtype);
  const Problem problem(dtype, shape, 13);
  const std::vector<float> want = problem.multiply(kernel_table(Isa::scalar), true);
  for (const KernelTable* table : tables) {
    ASSERT_TRUE(same(problem.multiply(*table, true), want)) << describe(dtype, shape, *table);
  }
}

TEST(MatmulExact, EveryInstructionSetEqualsScalar) {
  std::vector<const KernelTable*> tables;
  for (const Isa isa : test::host_isas()) {
    tables.push_back(&kernel_table(isa));
    ASSERT_EQ(tables.back()->isa, isa) << "another table than the one asked for";
  }
  for (const DType dtype : kWeightTypes) {
    for (const Shape3& shape : kEdgeShapes) expect_equal_to_scalar(dtype, shape, tables);
  }
}

TEST(MatmulExact, KSpansOfLongRowsEqualScalar) {
  // 15 tokens x 96 blocks are 90 KB of activations: three spans of k, sums waiting in y between them.
  std::vector<const KernelTable*> tables;
  for (const Isa isa : test::host_isas()) tables.push_back(&kernel_table(isa));
  for (const DType dtype : {DType::q4_0, DType::q4_k, DType::q6_k, DType::f16}) {
    expect_equal_to_scalar(dtype, {19, 3072 / unit_of_k(dtype), 17}, tables);
  }
}

#ifdef __x86_64__
TEST(MatmulExact, Avx2VnniSourceEqualsScalar) {
  if (!isa_supported(Isa::avx512_vnni)) GTEST_SKIP() << "needs AVX-512 VNNI";
  const KernelTable twin{"avx2_vnni twin", Isa::avx2_vnni, &test::kAvx2VnniTwin, nullptr};
  const KernelTable* tables[] = {&twin};
  for (const DType dtype : kWeightTypes) {
    for (const Shape3& shape : kEdgeShapes) expect_equal_to_scalar(dtype, shape, tables);
  }
}
#endif

TEST(MatmulExact, EveryNumberOfTokensGivesTheSameRows) {
  for (const DType dtype : {DType::q4_0, DType::q4_1, DType::q6_k, DType::q2_k, DType::q8_0, DType::f16}) {
    const int64_t k = unit_of_k(dtype);
    for (const Isa isa : test::host_isas()) {
      const KernelTable& table = kernel_table(isa);
      const Problem all(dtype, {17, k, 67}, 14);
      const std::vector<float> want = all.multiply(table, true);
      for (int64_t tokens = 1; tokens <= 67; ++tokens) {
        // The same seed makes the same rows; the first `tokens` activations are copied.
        Problem some(dtype, {17, k, tokens}, 14);
        Problem source(dtype, {17, k, 67}, 14);
        std::copy_n(source.x().begin(), tokens * k, some.x().begin());
        const std::vector<float> got = some.multiply(table, true);
        ASSERT_TRUE(same(got, {want.begin(), want.begin() + static_cast<std::ptrdiff_t>(got.size())}))
            << describe(dtype, some.shape(), table);
      }
    }
  }
}

TEST(MatmulExact, PartsOfAnySizeAndUnpackedWeightsGiveTheSame) {
  for (const DType dtype : kWeightTypes) {
    const Problem problem(dtype, {53, 2 * unit_of_k(dtype), 40}, 15);
    const KernelTable& table = kernel_table(best_isa());
    const std::vector<float> want = problem.multiply(table, true);
    EXPECT_TRUE(same(problem.multiply(table, false), want)) << traits(dtype).name << " without repacking";
    EXPECT_TRUE(same(problem.multiply(table, false, 1, 2), want)) << traits(dtype).name;
    EXPECT_TRUE(same(problem.multiply(table, true, 1, 1), want)) << traits(dtype).name;
    EXPECT_TRUE(same(problem.multiply(table, true, 3, 2), want)) << traits(dtype).name;
  }
}

TEST(Matmul, NothingOutsideTheRowsIsWritten) {
  for (const Isa isa : test::host_isas()) {
    const Problem problem(DType::q4_0, {21, 64, 9}, 16);
    const std::vector<float> y = problem.multiply(kernel_table(isa), true);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i] == Problem::kUntouched, i % 24 >= 21) << i;
  }
}

TEST(Matmul, TokensCanBeGatheredAndScattered) {
  const Problem problem(DType::q4_k, {32, 256, 5}, 17);
  Problem copy(DType::q4_k, {32, 256, 5}, 17);
  const KernelTable& table = kernel_table(best_isa());
  const std::vector<float> want = problem.multiply(table, true);
  const std::vector<int32_t> rows = {3, 1, 3};
  const std::vector<int32_t> y_rows = {2, 0, 4};
  const PackFormat format = PackFormat::q4_k;
  const ActivationFormat activation = activation_format(format);
  const AlignedBytes x = test::aligned_bytes(activation_bytes(activation, 3, 256));
  pack_activations(table, activation, {copy.x().data(), 256, rows.data(), 3, 256, 0}, 0, 1, x.get());
  const AlignedBytes w = test::pack_matrix(DType::q4_k, problem.rows(), 32, 256);
  std::vector<float> y(5 * 32, 0.0f);
  matmul_groups(table, {DType::q4_k, format, w.get(), 32, 256, true}, {activation, x.get(), 3, 256},
                {y.data(), 32, y_rows.data()}, {0, 2, 0, 1}, nullptr);
  for (size_t t = 0; t < 3; ++t) {
    for (size_t r = 0; r < 32; ++r) {
      EXPECT_EQ(y[static_cast<size_t>(y_rows[t]) * 32 + r], want[static_cast<size_t>(rows[t]) * 35 + r]);
    }
  }
  for (const size_t untouched : {1u, 3u}) EXPECT_EQ(y[untouched * 32], 0.0f);
}

TEST(MatmulExact, ActivationsOfAnySizeQuantizeAlike) {
  constexpr int64_t k = 32;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(18);
  std::vector<float> x;
  for (const float scale : {0.0f, 1e-45f, 1e-38f, 1.5e-36f, 1e-20f, 1.0f, 127.0f, 1e30f, 3e38f}) {
    for (int64_t e = 0; e < k; ++e) x.push_back(scale * (static_cast<float>(random() % 2001) / 1000.0f - 1.0f));
  }
  for (const float odd : {inf, -inf, nan}) {
    for (int64_t e = 0; e < k; ++e) x.push_back(e == 5 ? odd : 1.0f);
  }
  for (int64_t e = 0; e < k; ++e) x.push_back(static_cast<float>(e - 16) + 0.5f);  // ties
  x.back() = 127.0f;
  const auto tokens = static_cast<int64_t>(x.size()) / k;
  for (const int offset : {0, 1, 4, 8, 9, 12, 15, 16, 32, 43, 62, 128}) {
    const ActivationFormat format{true, offset};
    const uint64_t size = activation_bytes(format, tokens, k);
    const AlignedBytes want = test::aligned_bytes(size);
    const ActivationSource source{x.data(), k, nullptr, tokens, k, 0};
    pack_activations(kernel_table(Isa::scalar), format, source, 0, tile_count(tokens), want.get());
    for (const Isa isa : test::host_isas()) {
      const AlignedBytes got = test::aligned_bytes(size);
      pack_activations(kernel_table(isa), format, source, 0, tile_count(tokens), got.get());
      const auto* a = reinterpret_cast<const ActivationBlock*>(want.get());
      const auto* b = reinterpret_cast<const ActivationBlock*>(got.get());
      for (int64_t t = 0; t < tokens; ++t) {
        EXPECT_EQ(std::memcmp(a[t].q, b[t].q, 32), 0) << kernel_table(isa).name << " token " << t;
        EXPECT_EQ(a[t].init, b[t].init);
        EXPECT_TRUE(same({a[t].scale, a[t].fsum, a[t].fsum_half[0], a[t].fsum_half[1]},
                         {b[t].scale, b[t].fsum, b[t].fsum_half[0], b[t].fsum_half[1]}));
        EXPECT_EQ(a[t].init_half[0] + a[t].init_half[1], b[t].init);
      }
    }
  }
}

TEST(Matmul, NotANumberAndInfinityReachTheirTokenOnly) {
  for (const DType dtype : {DType::q4_0, DType::q4_1, DType::q6_k, DType::q8_0, DType::f32}) {
    for (const Isa isa : test::host_isas()) {
      Problem problem(dtype, {16, unit_of_k(dtype), 3}, 19);
      problem.x()[static_cast<size_t>(unit_of_k(dtype)) + 9] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> y = problem.multiply(kernel_table(isa), true);
      for (size_t r = 0; r < 16; ++r) {
        EXPECT_FALSE(std::isnan(y[r])) << traits(dtype).name;
        EXPECT_TRUE(std::isnan(y[19 + r])) << traits(dtype).name << " " << kernel_table(isa).name;
        EXPECT_FALSE(std::isnan(y[2 * 19 + r])) << traits(dtype).name;
      }
    }
  }
}

}  // namespace
}  // namespace brisk::cpu
