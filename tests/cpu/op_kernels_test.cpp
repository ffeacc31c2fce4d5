#include "cpu/kernels/op_kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "graph_runner.hpp"

namespace brisk::cpu {
namespace {

/// Widths around every register and unrolling border, and typical ones.
std::vector<int64_t> widths() {
  std::vector<int64_t> all;
  for (int64_t n = 1; n <= 67; ++n) all.push_back(n);
  for (const int64_t n : {127, 576, 1000, 1536}) all.push_back(n);
  return all;
}

/// Ordinary values, then the odd ones that kernels must agree on too.
std::vector<float> operands(int64_t n, uint32_t seed, bool odd_values) {
  std::vector<float> x = random_floats(static_cast<size_t>(n), seed, 3.0f);
  if (!odd_values) return x;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float odd[] = {0.0f,    -0.0f, 1e-41f, -1e-41f,  87.0f,    -87.4f, 88.73f,  -103.9f, 120.0f,
                       -200.0f, kInf,  -kInf,  65519.9f, 65520.0f, 6e-8f,  2.9e-8f, 1e30f,   -1e30f};
  for (size_t i = 0; i < x.size(); i += 2) x[i] = odd[(i / 2 + seed) % std::size(odd)];
  return x;
}

/// Bits, with all NaNs the same.
std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::isnan(value) ? 0x7FC00000u : std::bit_cast<uint32_t>(value));
  return bits;
}

struct Case {
  const char* name;
  bool odd_values;
  std::function<void(const OpKernels&, const float* x, const float* y, float* out, int64_t n)> run;
};

NormArgs norm_args(const float* x, const float* weight, const float* bias, float* out, int64_t n) {
  return {x, weight, bias, out, n, 1e-5f};
}

RopeArgs rope_args(const float* x, const float* y, float* out, int64_t n) {
  const auto d = static_cast<int32_t>(n);
  return {x, y, out, 1, d, d / 2 * 2};  // the last value of an odd head is copied
}

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"add", true, [](auto& k, auto x, auto y, auto out, auto n) { k.add(x, y, out, n); }},
      {"mul", true, [](auto& k, auto x, auto y, auto out, auto n) { k.mul(x, y, out, n); }},
      {"scale", true, [](auto& k, auto x, auto, auto out, auto n) { k.scale(x, 0.37f, out, n); }},
      {"add_scaled", false,
       [](auto& k, auto x, auto y, auto out, auto n) {
         std::copy_n(y, n, out);
         k.add_scaled(x, 0.37f, out, n);
       }},
      {"soft_cap", true, [](auto& k, auto x, auto, auto out, auto n) { k.soft_cap(x, 30.0f, out, n); }},
      {"sigmoid", true, [](auto& k, auto x, auto, auto out, auto n) { k.sigmoid(x, out, n); }},
      {"exp", true, [](auto& k, auto x, auto, auto out, auto n) { k.exp(x, out, n); }},
      {"softmax", false, [](auto& k, auto x, auto, auto out, auto n) { k.softmax(x, out, n); }},
      {"rms_norm", false,
       [](auto& k, auto x, auto y, auto out, auto n) { k.rms_norm(norm_args(x, y, nullptr, out, n)); }},
      {"rms_norm without weight", false,
       [](auto& k, auto x, auto, auto out, auto n) { k.rms_norm(norm_args(x, nullptr, nullptr, out, n)); }},
      {"layer_norm", false,
       [](auto& k, auto x, auto y, auto out, auto n) { k.layer_norm(norm_args(x, y, x, out, n)); }},
      {"layer_norm without bias", false,
       [](auto& k, auto x, auto y, auto out, auto n) { k.layer_norm(norm_args(x, y, nullptr, out, n)); }},
      {"rope_norm", false, [](auto& k, auto x, auto y, auto out, auto n) { k.rope_norm(rope_args(x, y, out, n)); }},
      {"rope_neox", false, [](auto& k, auto x, auto y, auto out, auto n) { k.rope_neox(rope_args(x, y, out, n)); }},
      {"f16", true,
       [](auto& k, auto x, auto, auto out, auto n) {
         std::vector<uint16_t> half(static_cast<size_t>(n));
         k.to_f16(x, half.data(), n);
         k.from_f16(half.data(), out, n);
       }},
  };
  for (int act = 0; act < kActivationCount; ++act) {
    all.push_back({"activate", true, [act](auto& k, auto x, auto, auto out, auto n) { k.activate[act](x, out, n); }});
    all.push_back({"gated", true, [act](auto& k, auto x, auto y, auto out, auto n) { k.gated[act](x, y, out, n); }});
  }
  return all;
}

TEST(OpKernelsExact, EveryInstructionSetEqualsTheScalarOne) {
  const OpKernels& scalar = *kernel_table(Isa::scalar).ops;
  for (const Isa isa : test::host_isas()) {
    SCOPED_TRACE(kernel_table(isa).name);
    for (const Case& c : cases()) {
      SCOPED_TRACE(c.name);
      for (const int64_t n : widths()) {
        const auto x = operands(n, static_cast<uint32_t>(n), c.odd_values);
        const auto y = random_floats(static_cast<size_t>(n), 7);
        // Two values more than needed: nobody may write there.
        std::vector<float> expected(static_cast<size_t>(n) + 2, -77.0f);
        std::vector<float> actual = expected;
        c.run(scalar, x.data(), y.data(), expected.data(), n);
        c.run(*kernel_table(isa).ops, x.data(), y.data(), actual.data(), n);
        ASSERT_EQ(bits_of(actual), bits_of(expected)) << n;
        ASSERT_EQ(actual.back(), -77.0f);
      }
    }
  }
}

/// Greatest error of a kernel against f64, in units in the last place of the result.
template <class Kernel, class Exact>
double worst_error(float from, float to, Kernel kernel, Exact exact) {
  double worst = 0;
  std::vector<float> x;
  for (int i = 0; i <= 40000; ++i) x.push_back(from + (to - from) * static_cast<float>(i) / 40000.0f);
  std::vector<float> y(x.size());
  kernel(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(static_cast<double>(x[i]));
    const auto rounded = std::fabs(static_cast<float>(expected));
    const double ulp = static_cast<double>(std::nextafter(rounded, std::numeric_limits<float>::infinity()) - rounded);
    worst = std::max(worst, std::fabs(static_cast<double>(y[i]) - expected) / ulp);
  }
  return worst;
}

TEST(OpKernels, ExpIsWithinTwoUnitsInTheLastPlace) {
  const OpKernels& k = *kernel_table(best_isa()).ops;
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LT(worst_error(-87.0f, 88.7f, k.exp, exact), 2.0);
  EXPECT_LT(worst_error(-1.0f, 1.0f, k.exp, exact), 2.0);
  EXPECT_LT(worst_error(-103.0f, -87.0f, k.exp, exact), 2.0);
}

TEST(OpKernels, ExpOfLimits) {
  const OpKernels& k = *kernel_table(best_isa()).ops;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f,    -0.0f, -kInf, -1e30f,
                                -104.0f, kInf,  89.0f, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> y(x.size());
  k.exp(x.data(), y.data(), static_cast<int64_t>(x.size()));
  EXPECT_EQ(std::vector<float>(y.begin(), y.end() - 1), (std::vector<float>{1, 1, 0, 0, 0, kInf, kInf}));
  EXPECT_TRUE(std::isnan(y.back()));
}

TEST(OpKernels, ActivationsAreWithinTwoMillionths) {
  const OpKernels& k = *kernel_table(best_isa()).ops;
  const auto check = [](const char* name, auto kernel, auto exact) {
    std::vector<float> x;
    for (int i = -120000; i <= 120000; ++i) x.push_back(static_cast<float>(i) * 1e-4f);
    std::vector<float> y(x.size());
    kernel(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto v = static_cast<double>(x[i]);
      // Near -x, where GELU nearly vanishes, its factor 1 + erf has the absolute precision of 1.
      ASSERT_NEAR(static_cast<double>(y[i]), exact(v), 1e-6 * std::fabs(exact(v)) + 2e-7 * std::fabs(v))
          << name << " at " << v;
    }
  };
  check("silu", k.activate[0], [](double x) { return x / (1 + std::exp(-x)); });
  check("gelu_tanh", k.activate[1],
        [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); });
  check("gelu_erf", k.activate[2], [](double x) { return 0.5 * x * (1 + std::erf(x * 0.7071067811865476)); });
  check("relu", k.activate[3], [](double x) { return std::max(x, 0.0); });
  check("sigmoid", k.sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); });
  check(
      "soft_cap", [&](const float* x, float* out, int64_t n) { k.soft_cap(x, 5.0f, out, n); },
      [](double x) { return 5 * std::tanh(x / 5); });
}

}  // namespace
}  // namespace brisk::cpu
