// Matmul of every packed format on one thread: operations a second against the processor's peak for its own dot-product
// instruction, and weight bytes a second.
//   brisk_bench_cpu_matmul [--isa NAME] [benchmark flags, e.g. --benchmark_filter=q4_0]

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
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
#include "cpu/weight_loader.hpp"

namespace {

using namespace brisk;       // NOLINT: a program
using namespace brisk::cpu;  // NOLINT

struct FormatName {
  PackFormat format;
  const char* name;
};
constexpr FormatName kFormats[] = {
    {PackFormat::q4_0, "q4_0"},   {PackFormat::q4_1, "q4_1"},       {PackFormat::q5_0, "q5_0"},
    {PackFormat::q5_1, "q5_1"},   {PackFormat::q8_0, "q8_0"},       {PackFormat::iq4_nl, "iq4_nl"},
    {PackFormat::q2_k, "q2_k"},   {PackFormat::q3_k, "q3_k"},       {PackFormat::q4_k, "q4_k"},
    {PackFormat::q5_k, "q5_k"},   {PackFormat::q6_k, "q6_k"},       {PackFormat::iq4_xs, "iq4_xs"},
    {PackFormat::mxfp4, "mxfp4"}, {PackFormat::nvfp4, "nvfp4"},     {PackFormat::iq3_xxs, "iq3_xxs"},
    {PackFormat::iq3_s, "iq3_s"}, {PackFormat::iq2_xxs, "iq2_xxs"}, {PackFormat::iq2_xs, "iq2_xs"},
    {PackFormat::iq1_s, "iq1_s"}, {PackFormat::iq1_m, "iq1_m"},     {PackFormat::tq2_0, "tq2_0"},
    {PackFormat::q2_0, "q2_0"},   {PackFormat::q1_0, "q1_0"},       {PackFormat::f32, "f32"},
    {PackFormat::f16, "f16"},     {PackFormat::bf16, "bf16"},
};

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{4096}); }
};
using Bytes = std::unique_ptr<std::byte, AlignedDelete>;

Bytes make_bytes(uint64_t size) {
  return Bytes(static_cast<std::byte*>(::operator new (size + 4096, std::align_val_t{4096})));
}

/// Processor time of this thread: other programs on the machine do not count.
double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Best rate of `runs` calls that do `amount` of work each.
template <typename Work>
double best_rate(int runs, double amount, Work work) {
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    const double start = seconds();
    work();
    best = std::max(best, amount / (seconds() - start));
  }
  return best;
}

#ifdef __x86_64__
/// 16 independent chains of vpdpbusd on registers: what no matmul can beat. 128 operations each.
void spin_dpbusd(uint64_t rounds) {
  __asm__ volatile(
      "1:\n"
      ".irp r,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n"
      "vpdpbusd %%zmm1, %%zmm2, %%zmm\\r\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds)
      :
      : "cc", "xmm1", "xmm2", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}
#endif

/// Peak of the dot-product instruction in operations a second; 0 where it is not known how to measure it.
double dot_peak() {
#ifdef __x86_64__
  constexpr uint64_t rounds = 1'000'000;
  if (isa_supported(Isa::avx512_vnni)) return best_rate(10, rounds * 16 * 128.0, [] { spin_dpbusd(rounds); });
#endif
  return 0;
}

/// Bytes a second that one thread reads from memory.
double read_bandwidth() {
  constexpr uint64_t size = uint64_t{512} << 20;
  const Bytes buffer = make_bytes(size);
  std::memset(buffer.get(), 1, size);
  const auto* words = reinterpret_cast<const uint64_t*>(buffer.get());
  return best_rate(5, static_cast<double>(size), [&] {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size / 8; ++i) sum += words[i];
    benchmark::DoNotOptimize(sum);
  });
}

struct Limits {
  double dot_ops = 0;
  double read_bytes = 0;
};

struct Case {
  PackFormat format;
  int64_t k;
  int64_t n;
  int64_t tokens;
  bool cold;  ///< weights from memory: more matrices in turn than any cache holds
};

void run(benchmark::State& state, Isa isa, const Case& c, const Limits& limits) {
  const auto& [format, k, n, tokens, cold] = c;
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
  const auto rate = [&](double amount) {
    return benchmark::Counter(amount * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  };
  const double ops = 2.0 * static_cast<double>(k * n * tokens);
  state.counters["GOPS"] = rate(ops * 1e-9);
  state.counters["weights/ns"] = rate(static_cast<double>(k * n) * 1e-9);
  state.counters["GB/s"] = rate(static_cast<double>(size) * 1e-9);
  if (limits.dot_ops > 0) state.counters["of_peak"] = rate(ops / limits.dot_ops);
  if (cold) state.counters["of_bandwidth"] = rate(static_cast<double>(size) / limits.read_bytes);
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

/// Packing, as at load, and what --no-repack does for every group it multiplies.
void pack(benchmark::State& state, DType dtype) {
  constexpr int64_t k = 2048;
  constexpr int64_t groups = 32;
  const uint64_t rows_bytes = bytes_of(dtype, k * kGroupRows);
  const uint64_t size = group_bytes(pack_format(dtype), k);
  const Bytes rows = make_bytes(rows_bytes * groups);
  std::mt19937 random(1);
  for (uint64_t i = 0; i < rows_bytes * groups; ++i) rows.get()[i] = static_cast<std::byte>(random());
  const Bytes out = make_bytes(size * groups);
  for (auto _ : state) {
    for (uint64_t g = 0; g < groups; ++g) {
      pack_group(dtype, {rows.get() + g * rows_bytes, rows_bytes}, k, out.get() + g * size);
    }
    benchmark::DoNotOptimize(out.get());
  }
  state.counters["Mweights/s"] =
      benchmark::Counter(static_cast<double>(k * kGroupRows * groups) * static_cast<double>(state.iterations()) * 1e-6,
                         benchmark::Counter::kIsRate);
}

void add_packing() {
  for (const DTypeTraits& type : all_dtypes()) {
    if (!is_weight_type(type.dtype)) continue;
    benchmark::RegisterBenchmark(("pack/" + std::string(type.name)).c_str(),
                                 [=](benchmark::State& s) { pack(s, type.dtype); });
  }
}

void add_all(Isa isa, const Limits& limits) {
  constexpr int64_t shapes[][2] = {{576, 1536}, {2048, 2048}, {2048, 8192}};
  for (const FormatName& f : kFormats) {
    for (const auto& shape : shapes) {
      const int64_t k = shape[0] == 576 && f.format >= PackFormat::q2_k ? 512 : shape[0];
      const int64_t n = shape[1];
      for (const int64_t tokens : {1, 8, 512}) {
        const std::string name =
            std::string(f.name) + "/" + std::to_string(k) + "x" + std::to_string(n) + "/t" + std::to_string(tokens);
        const auto bench = [=](benchmark::State& s, bool cold) { run(s, isa, {f.format, k, n, tokens, cold}, limits); };
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
    for (int j = i; j + 2 < argc; ++j) argv[j] = argv[j + 2];
    argc -= 2;
    break;
  }
  benchmark::Initialize(&argc, argv);
  const Limits limits{dot_peak(), read_bandwidth()};
  benchmark::AddCustomContext("isa", kernel_table(isa).name);
  benchmark::AddCustomContext("dot-product peak, GOPS", std::to_string(limits.dot_ops * 1e-9));
  benchmark::AddCustomContext("read bandwidth, GB/s", std::to_string(limits.read_bytes * 1e-9));
  add_all(isa, limits);
  add_packing();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
