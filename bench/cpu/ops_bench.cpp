// Costs of what surrounds the products: barriers, starting a graph, attention, norms, activations.
//   brisk_bench_cpu_ops [benchmark flags, e.g. --benchmark_filter=attention]

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "cpu/thread_pool.hpp"
#include "tensor/ops.hpp"

namespace {

using namespace brisk;  // NOLINT: a program

ThreadOptions with_threads(int n) {
  ThreadOptions options;
  options.n_threads = n;
  return options;
}

void barrier(benchmark::State& state) {
  constexpr int kBarriers = 1000;
  const auto n = static_cast<int>(state.range(0));
  cpu::ThreadPool pool(with_threads(n));
  for ([[maybe_unused]] auto _ : state) {
    pool.run(n, [&](int) {
      for (int i = 0; i < kBarriers; ++i) pool.barrier().wait();
    });
  }
  state.SetItemsProcessed(state.iterations() * kBarriers);
}
BENCHMARK(barrier)->Arg(2)->Arg(3)->Arg(8)->UseRealTime();

void start(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  cpu::ThreadPool pool(with_threads(n));
  for ([[maybe_unused]] auto _ : state) pool.run(n, [](int) {});
}
BENCHMARK(start)->Arg(2)->Arg(8)->UseRealTime();

/// A device with tensors of zeros (small numbers would do as well: no kernel's time depends on values).
class Bench {
 public:
  TensorRef zeros(DType type, const Shape& shape) {
    buffers_.push_back(device().allocate(bytes_of(type, static_cast<uint64_t>(shape.count()))));
    return graph.store({"zeros", type, shape, buffers_.back().get(), 0});
  }
  TensorRef ids(const Shape& shape, const std::vector<int32_t>& values) {
    const TensorRef ref = zeros(DType::i32, shape);
    buffers_.back()->write(0, std::as_bytes(std::span(values)));
    return ref;
  }
  void run(benchmark::State& state, TensorRef result, int n_threads) {
    graph.mark_output(result);
    const Plan plan = make_plan(std::move(graph));
    const auto stream = device().new_stream(with_threads(n_threads));
    for ([[maybe_unused]] auto _ : state) stream->run(plan, false);
  }

  Graph graph;

 private:
  Device& device() { return *backend_->devices()[0]; }

  std::unique_ptr<Backend> backend_ = make_cpu_backend();
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

struct Heads {
  const char* name;
  int n_head, n_head_kv, head_dim;
};
constexpr Heads kHeads[] = {{"smollm2-135m", 9, 3, 64}, {"gemma3-270m", 4, 1, 256}, {"llama3-8b", 32, 8, 128}};

/// `m` queries behind `depth` positions. Rate: multiplications of scores and values.
void attention_of(benchmark::State& state, const Heads& heads, int depth, int m, int n_threads) {
  Bench bench;
  const AttentionParams p{heads.n_head, heads.n_head_kv, heads.head_dim, heads.head_dim, 0.125f};
  const int n_pages = (depth + m + 63) / 64;
  std::vector<int32_t> positions, pages;
  for (int i = 0; i < m; ++i) positions.push_back(depth + i);
  for (int i = 0; i < n_pages; ++i) pages.push_back(i);
  const Shape page_shape{kPagePositions * p.n_head_kv * p.head_dim, n_pages};
  const KvInputs kv{bench.zeros(DType::f16, page_shape), bench.zeros(DType::f16, page_shape), bench.ids({m}, positions),
                    bench.ids({m}, std::vector<int32_t>(static_cast<size_t>(m), 0)), bench.ids({n_pages, 1}, pages)};
  const TensorRef q = bench.zeros(DType::f32, {p.n_head * p.head_dim, m});
  bench.run(state, attention(bench.graph, q, kv, p), n_threads);
  const double products = 2.0 * heads.n_head * heads.head_dim * (m * static_cast<double>(depth) + m * (m + 1) / 2.0);
  state.counters["GMAC/s"] = benchmark::Counter(products * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void norm_of(benchmark::State& state, int64_t n, int64_t m, int n_threads) {
  Bench bench;
  const TensorRef x = bench.zeros(DType::f32, {n, m});
  bench.run(state, rms_norm(bench.graph, x, bench.zeros(DType::f32, {n}), 1e-5f), n_threads);
  state.SetBytesProcessed(state.iterations() * n * m * 8);
}

void gated_of(benchmark::State& state, Activation act, int64_t n, int64_t m, int n_threads) {
  Bench bench;
  const TensorRef both = scale(bench.graph, bench.zeros(DType::f32, {2 * n, m}), 1.0f);
  const TensorRef gate = bench.graph.view_columns(both, 0, n);
  bench.run(state, gated(bench.graph, gate, bench.graph.view_columns(both, n, n), act), n_threads);
  state.SetBytesProcessed(state.iterations() * n * m * 20);
}

template <class Fn>
void add(const std::string& name, Fn fn) {
  benchmark::RegisterBenchmark(name.c_str(), fn)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  for (const int threads : {1, 2}) {
    const std::string suffix = "/threads:" + std::to_string(threads);
    for (const Heads& heads : kHeads) {
      const std::string name = std::string("attention/") + heads.name;
      add(name + "/decode at 4096" + suffix, [=](auto& state) { attention_of(state, heads, 4095, 1, threads); });
      add(name + "/prompt of 512" + suffix, [=](auto& state) { attention_of(state, heads, 0, 512, threads); });
    }
    add("rms_norm/576x1" + suffix, [=](auto& state) { norm_of(state, 576, 1, threads); });
    add("rms_norm/576x512" + suffix, [=](auto& state) { norm_of(state, 576, 512, threads); });
    add("swiglu/1536x512" + suffix, [=](auto& state) { gated_of(state, Activation::silu, 1536, 512, threads); });
    add("geglu/1536x512" + suffix, [=](auto& state) { gated_of(state, Activation::gelu_tanh, 1536, 512, threads); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
