// Costs of what surrounds the products: barriers, starting a graph, attention, norms, activations.
//   brisk_bench_cpu_ops [benchmark flags, e.g. --benchmark_filter=attention]

#include <benchmark/benchmark.h>

#include <list>
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
  TensorRef load(const WeightSource& source) {
    return graph.store(device().load_weights(std::span(&source, 1), {}, buffers_)[0]);
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

/// The graph of a llama-like model with weights of one type, all of them zero: kernels take the same time for any
/// values.
class LlamaBench : public Bench {
 public:
  static constexpr int64_t kEmbd = 576, kFf = 1536, kVocab = 49152;
  static constexpr int kLayers = 30;
  static constexpr AttentionParams kAttention{9, 3, 64, 64, 0.125f};

  LlamaBench(DType type, int64_t m) : type_(type), m_(m) {}

  TensorRef build() {
    std::vector<int32_t> positions, pages;
    for (int i = 0; i < m_; ++i) positions.push_back(i);
    for (int i = 0; i < (m_ + 63) / 64; ++i) pages.push_back(i);
    positions_ = ids({m_}, positions);
    sequences_ = ids({m_}, std::vector<int32_t>(static_cast<size_t>(m_), 0));
    page_table_ = ids({static_cast<int64_t>(pages.size()), 1}, pages);
    norm_ = zeros(DType::f32, {kEmbd});
    const TensorRef angles = rope_table(graph, positions_, {}, {.n_rot = 64, .freq_base = 1e4f});
    const TensorRef table = weight(kVocab, kEmbd);
    TensorRef x = embed_rows(graph, table, positions_);
    for (int i = 0; i < kLayers; ++i) x = layer(x, angles);
    x = select_rows(graph, x, ids({1}, {static_cast<int32_t>(m_) - 1}));
    return matmul(graph, table, rms_norm(graph, x, norm_, 1e-5f));
  }

 private:
  TensorRef weight(int64_t n, int64_t k) {
    bytes_.emplace_back(bytes_of(type_, static_cast<uint64_t>(n * k)));
    return load({"weight", type_, {k, n}, bytes_.back(), false, {}});
  }

  TensorRef layer(TensorRef x, TensorRef angles) {
    const int64_t n_pages = (m_ + 63) / 64;
    const KvInputs kv{zeros(DType::f16, {64 * 192, n_pages}), zeros(DType::f16, {64 * 192, n_pages}), positions_,
                      sequences_, page_table_};
    const TensorRef attn[] = {weight(576, kEmbd), weight(192, kEmbd), weight(192, kEmbd)};
    const TensorRef qkv = matmul(graph, attn, rms_norm(graph, x, norm_, 1e-5f));
    const TensorRef q = rope(graph, graph.view_columns(qkv, 0, 576), angles, 64, RopeLayout::norm);
    const TensorRef k = rope(graph, graph.view_columns(qkv, 576, 192), angles, 64, RopeLayout::norm);
    store_kv(graph, k, graph.view_columns(qkv, 768, 192), kv, kAttention);
    x = ::brisk::add(graph, x, matmul(graph, weight(kEmbd, 576), attention(graph, q, kv, kAttention)));
    const TensorRef ffn[] = {weight(kFf, kEmbd), weight(kFf, kEmbd)};
    const TensorRef both = matmul(graph, ffn, rms_norm(graph, x, norm_, 1e-5f));
    const TensorRef hidden =
        gated(graph, graph.view_columns(both, 0, kFf), graph.view_columns(both, kFf, kFf), Activation::silu);
    return ::brisk::add(graph, x, matmul(graph, weight(kEmbd, kFf), hidden));
  }

  DType type_;
  int64_t m_;
  std::list<std::vector<std::byte>> bytes_;
  TensorRef positions_, sequences_, page_table_, norm_;
};

void llama_of(benchmark::State& state, DType type, int64_t m, int n_threads) {
  LlamaBench bench(type, m);
  bench.run(state, bench.build(), n_threads);
  state.SetItemsProcessed(state.iterations() * m);
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
    for (const DType type : {DType::q4_1, DType::q8_0}) {
      const std::string name = "smollm2-135m/" + std::string(traits(type).name);
      add(name + "/decode" + suffix, [=](auto& state) { llama_of(state, type, 1, threads); });
      add(name + "/prompt of 512" + suffix, [=](auto& state) { llama_of(state, type, 512, threads); });
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
