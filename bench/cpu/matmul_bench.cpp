// Matmul of every packed format on one thread: operations a second against the processor's peak for its own dot-product
// instruction, and weight bytes a second.
//   brisk_bench_cpu_matmul [--isa NAME] [benchmark flags, e.g. --benchmark_filter=q4_0]

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/cpu_features.hpp"
#include "cpu/matmul.hpp"

namespace {

using namespace brisk;       // NOLINT: a program
using namespace brisk::cpu;  // NOLINT

struct FormatName {
  PackFormat format;
  const char* name;
};
constexpr FormatName kFormats[] = {
    {PackFormat::q4_0, "q4_0"},     {PackFormat::q4_1, "q4_1"},     {PackFormat::q5_0, "q5_0"},
    {PackFormat::q5_1, "q5_1"},     {PackFormat::q8_0, "q8_0"},     {PackFormat::iq4_nl, "iq4_nl"},
    {PackFormat::q2_k, "q2_k"},     {PackFormat::q3_k, "q3_k"},     {PackFormat::q4_k, "q4_k"},
    {PackFormat::q5_k, "q5_k"},     {PackFormat::q6_k, "q6_k"},     {PackFormat::iq4_xs, "iq4_xs"},
    {PackFormat::f32, "f32"},       {PackFormat::f16, "f16"},       {PackFormat::bf16, "bf16"},
    {PackFormat::tile32, "tile32"}, {PackFormat::tile16, "tile16"},
};

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{4096}); }
};
using Bytes = std::unique_ptr<std::byte, AlignedDelete>;

Bytes make_bytes(uint64_t size) {
  return Bytes(static_cast<std::byte*>(::operator new (size + 4096, std::align_val_t{4096})));
}

struct Problem {
  MatrixView w;
  int64_t copies;  ///< matrices in a row, so that one-token runs can leave the caches
  int64_t tokens;
};

void run(benchmark::State& state, Isa isa, PackFormat format, int64_t k, int64_t n, int64_t tokens, bool cold) {
  const KernelTable& table = kernel_table(isa);
  const uint64_t size = group_bytes(format, k) * static_cast<uint64_t>(group_count(n));
  const uint64_t copies = cold ? (uint64_t{700} << 20) / size + 1 : 1;
  const Bytes weights = make_bytes(size * copies);
  // Small f16 everywhere: 0x1C1C as a scale is 0.004, as levels anything.
  std::memset(weights.get(), 0x1C, size * copies);

  std::vector<float> x(static_cast<size_t>(k * tokens));
  std::mt19937 random(1);
  for (float& value : x) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  const ActivationFormat activation = activation_format(format);
  const Bytes packed = make_bytes(activation_bytes(activation, tokens, k));
  pack_activations(table, activation, {x.data(), k, nullptr, tokens, k, 0}, 0, tile_count(tokens), packed.get());
  std::vector<float> y(static_cast<size_t>(n * tokens));

  uint64_t copy = 0;
  for (auto _ : state) {
    const MatrixView w{DType::f32, format, weights.get() + size * copy, n, k, true};
    matmul_groups(table, w, {activation, packed.get(), tokens, k}, {y.data(), n, nullptr},
                  {0, group_count(n), 0, tile_count(tokens)}, nullptr);
    benchmark::DoNotOptimize(y.data());
    copy = (copy + 1) % copies;
  }
  const double ops = 2.0 * static_cast<double>(k * n * tokens) * static_cast<double>(state.iterations());
  state.counters["GOPS"] = benchmark::Counter(ops * 1e-9, benchmark::Counter::kIsRate);
  state.counters["GB/s"] = benchmark::Counter(
      static_cast<double>(size) * static_cast<double>(state.iterations()) * 1e-9, benchmark::Counter::kIsRate);
}

void quantize(benchmark::State& state, Isa isa, int64_t k, int64_t tokens) {
  const KernelTable& table = kernel_table(isa);
  std::vector<float> x(static_cast<size_t>(k * tokens), 0.5f);
  const ActivationFormat activation = activation_format(PackFormat::q4_0);
  const Bytes packed = make_bytes(activation_bytes(activation, tokens, k));
  for (auto _ : state) {
    pack_activations(table, activation, {x.data(), k, nullptr, tokens, k, 0}, 0, tile_count(tokens), packed.get());
    benchmark::DoNotOptimize(packed.get());
  }
  state.counters["Gelements/s"] = benchmark::Counter(
      static_cast<double>(k * tokens) * static_cast<double>(state.iterations()) * 1e-9, benchmark::Counter::kIsRate);
}

void add_all(Isa isa) {
  constexpr int64_t shapes[][2] = {{576, 1536}, {2048, 2048}, {2048, 8192}};
  for (const FormatName& f : kFormats) {
    for (const auto& shape : shapes) {
      const int64_t k =
          shape[0] == 576 && f.format >= PackFormat::q2_k && f.format <= PackFormat::iq4_xs ? 512 : shape[0];
      const int64_t n = shape[1];
      for (const int64_t tokens : {1, 8, 512}) {
        const std::string name =
            std::string(f.name) + "/" + std::to_string(k) + "x" + std::to_string(n) + "/t" + std::to_string(tokens);
        const auto bench = [=](benchmark::State& s, bool cold) { run(s, isa, f.format, k, n, tokens, cold); };
        benchmark::RegisterBenchmark(name.c_str(), bench, false)->Unit(benchmark::kMicrosecond);
        if (tokens == 1)
          benchmark::RegisterBenchmark((name + "/cold").c_str(), bench, true)->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::RegisterBenchmark("quantize/2048/t512", [=](benchmark::State& s) { quantize(s, isa, 2048, 512); });
}

}  // namespace

int main(int argc, char** argv) {
  Isa isa = best_isa();
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != "--isa") continue;
    isa = isa_from_name(argv[i + 1]).value_or(isa);
    for (int j = i; j + 2 <= argc; ++j) argv[j] = argv[j + 2 > argc ? argc : j + 2];
    argc -= 2;
    break;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("isa", kernel_table(isa).name);
  add_all(isa);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
