// Random shapes of every type on every instruction set, bit for bit against the scalar kernels.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "cpu/matmul.hpp"
#include "weights.hpp"

namespace brisk::test {
extern const cpu::MatmulKernels kAvx2VnniTwin;  // avx2_vnni_twin.cpp
}

namespace brisk::cpu {
namespace {

using test::AlignedBytes;

/// Greatest shape, and rows and tokens of a reference: shapes are windows of it.
constexpr int64_t kMostEdge = 67;
constexpr int64_t kEdge = 80;

struct Window {
  int64_t row;
  int64_t rows;
  int64_t token;
  int64_t tokens;
  MatmulRange cut;  ///< one corner of groups and tiles is computed apart from the rest
};

/// Weights, activations and the scalar kernels' product of all of them. A row's result depends on no other row and a
/// token's on no other token, so any window of the product is what the scalar kernels make of the window's operands.
class Reference {
 public:
  Reference(DType dtype, std::mt19937& random)
      : dtype_(dtype),
        k_(std::max<int64_t>(32, traits(dtype).block_length) * (1 + static_cast<int64_t>(random() % 3))) {
    rows_ = test::random_rows(dtype, kEdge, k_, random);
    x_.resize(static_cast<size_t>(kEdge * k_));
    for (size_t block = 0; block < x_.size(); block += 32) fill(block, random);
    if (random() % 4 == 0) x_[random() % x_.size()] = std::numeric_limits<float>::quiet_NaN();
    if (random() % 4 == 0) x_[random() % x_.size()] = -std::numeric_limits<float>::infinity();
    y_ = multiply(kernel_table(Isa::scalar), {0, kEdge, 0, kEdge, {}}, true);
  }

  [[nodiscard]] int64_t k() const { return k_; }

  [[nodiscard]] std::vector<float> multiply(const KernelTable& table, const Window& window, bool packed) const {
    const PackFormat format = pack_format(dtype_);
    const ActivationFormat activation = activation_format(format);
    const AlignedBytes x = test::aligned_bytes(activation_bytes(activation, window.tokens, k_));
    const ActivationSource source{x_.data() + window.token * k_, k_, nullptr, window.tokens, k_, 0};
    pack_activations(table, activation, source, 0, tile_count(window.tokens), x.get());
    const auto row_bytes = bytes_of(dtype_, static_cast<uint64_t>(k_));
    const auto rows = std::span(rows_).subspan(static_cast<size_t>(window.row) * row_bytes,
                                               static_cast<size_t>(window.rows) * row_bytes);
    const AlignedBytes groups = test::pack_matrix(dtype_, rows, window.rows, k_);
    const MatrixView w{dtype_, format, packed ? groups.get() : rows.data(), window.rows, k_, packed};
    const AlignedBytes scratch = test::aligned_bytes(matmul_scratch_bytes(w));
    std::vector<float> y(static_cast<size_t>(window.rows * window.tokens));
    const MatmulRange& cut = window.cut;
    const int64_t n_groups = group_count(window.rows);
    const int64_t n_tiles = tile_count(window.tokens);
    for (const MatmulRange& part :
         {MatmulRange{0, cut.group_end, 0, cut.tile_end}, MatmulRange{cut.group_end, n_groups, 0, cut.tile_end},
          MatmulRange{0, n_groups, cut.tile_end, n_tiles}}) {
      if (part.group_begin == part.group_end || part.tile_begin == part.tile_end) continue;
      matmul_groups(table, w, {activation, x.get(), window.tokens, k_}, {y.data(), window.rows, nullptr}, part,
                    scratch.get());
    }
    return y;
  }

  /// The first value that differs from the window of the product; NaN equals NaN.
  [[nodiscard]] ::testing::AssertionResult holds(const std::vector<float>& y, const Window& window) const {
    for (int64_t t = 0; t < window.tokens; ++t) {
      for (int64_t r = 0; r < window.rows; ++r) {
        const float got = y[static_cast<size_t>(t * window.rows + r)];
        const float want = y_[static_cast<size_t>((window.token + t) * kEdge + window.row + r)];
        if (std::memcmp(&got, &want, sizeof got) == 0 || (std::isnan(got) && std::isnan(want))) continue;
        return ::testing::AssertionFailure() << "token " << t << " row " << r << ": " << got << ", not " << want;
      }
    }
    return ::testing::AssertionSuccess();
  }

 private:
  /// A block of 32: a magnitude of its own, sometimes zeros or values whose scale has no inverse.
  void fill(size_t block, std::mt19937& random) {
    const int exponent = static_cast<int>(random() % 40) - 20;
    const float size = random() % 16 == 0 ? 0.0f : random() % 64 == 0 ? 0x1p-130f : std::ldexp(1.0f, exponent);
    for (size_t i = 0; i < 32; ++i) x_[block + i] = size * (static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f);
  }

  DType dtype_;
  int64_t k_;
  std::vector<std::byte> rows_;
  std::vector<float> x_;
  std::vector<float> y_;
};

Window random_window(std::mt19937& random) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  Window window{};
  window.rows = 1 + below(kMostEdge);
  window.tokens = 1 + below(random() % 2 == 0 ? kMostEdge : 9);
  window.row = below(kEdge - window.rows + 1);
  window.token = below(kEdge - window.tokens + 1);
  window.cut.group_end = below(group_count(window.rows) + 1);
  window.cut.tile_end = below(tile_count(window.tokens) + 1);
  return window;
}

/// The tables of this machine; the scalar one too, on windows.
std::vector<KernelTable> tables() {
  std::vector<KernelTable> found;
  for (const Isa isa : test::host_isas()) found.push_back(kernel_table(isa));
#ifdef __x86_64__
  if (isa_supported(Isa::avx512_vnni))
    found.push_back({"avx2_vnni twin", Isa::avx2_vnni, &test::kAvx2VnniTwin, nullptr});
#endif
  return found;
}

void check_shapes(DType dtype, int shapes) {
  constexpr int kShapesOfReference = 100;
  std::mt19937 random(static_cast<uint32_t>(dtype));
  const std::vector<KernelTable> isas = tables();
  for (int done = 0; done < shapes; done += kShapesOfReference) {
    const Reference reference(dtype, random);
    for (int i = 0; i < kShapesOfReference; ++i) {
      const Window window = random_window(random);
      for (const KernelTable& table : isas) {
        if (table.isa == Isa::scalar && i % 16 != 0) continue;  // slow, and the reference is its own
        ASSERT_TRUE(reference.holds(reference.multiply(table, window, i % 8 != 0), window))
            << traits(dtype).name << " " << window.rows << " rows, " << window.tokens << " tokens, k " << reference.k()
            << " " << table.name;
      }
    }
  }
}

TEST(MatmulRandomExact, ShapesOfEveryTypeEqualScalar) {
  for (const DType dtype : test::kWeightTypes) check_shapes(dtype, 1000);
}

TEST(MatmulRandomSlow, TenThousandShapesOfEveryTypeEqualScalar) {
  for (const DType dtype : test::kWeightTypes) check_shapes(dtype, 10000);
}

}  // namespace
}  // namespace brisk::cpu
