#pragma once

#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "cpu/cpu_backend.hpp"
#include "tensor/ops.hpp"
#include "weights.hpp"

// A CPU device with tensors on it, to build small graphs and run them.

namespace brisk {

inline std::vector<float> random_floats(size_t n, uint32_t seed, float scale = 1.0f) {
  std::mt19937 engine(seed);
  std::vector<float> values(n);
  for (float& value : values) {
    // Sum of four uniforms: roughly normal, the same on every platform.
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(engine()) * 0x1p-32 - 0.5;
    value = static_cast<float>(sum * 1.7) * scale;
  }
  return values;
}

class GraphRunner {
 public:
  explicit GraphRunner(std::optional<cpu::Isa> isa = {}) : backend_(make_cpu_backend({isa})) {}

  Device& device() { return *backend_->devices()[0]; }

  TensorStorage floats(const Shape& shape, const std::vector<float>& values) {
    return plain(DType::f32, shape, std::as_bytes(std::span(values)));
  }
  TensorStorage ids(const std::vector<int32_t>& values) { return ids({static_cast<int64_t>(values.size())}, values); }
  TensorStorage ids(const Shape& shape, const std::vector<int32_t>& values) {
    return plain(DType::i32, shape, std::as_bytes(std::span(values)));
  }
  TensorStorage zeros(DType dtype, const Shape& shape) {
    buffers_.push_back(device().allocate(bytes_of(dtype, static_cast<uint64_t>(shape.count()))));
    return {"zeros", dtype, shape, buffers_.back().get(), 0};
  }
  /// Through load_weights: packed where it is a matrix.
  TensorStorage weight(DType dtype, const Shape& shape, std::span<const std::byte> bytes, bool rows_only = false) {
    const WeightSource source{"weight", dtype, shape, bytes, rows_only, {}};
    return device().load_weights(std::span(&source, 1), {}, buffers_)[0];
  }
  TensorStorage float_weight(const Shape& shape, const std::vector<float>& values) {
    return weight(DType::f32, shape, std::as_bytes(std::span(values)));
  }

  std::unique_ptr<Stream> new_stream(int n_threads) {
    ThreadOptions threads;
    threads.n_threads = n_threads;
    return device().new_stream(threads);
  }

  /// Runs the graph and reads `result` (f32).
  std::vector<float> run(Graph graph, TensorRef result, int n_threads = 1) {
    graph.mark_output(result);
    const Plan plan = make_plan(std::move(graph));
    const auto stream = new_stream(n_threads);
    stream->run(plan, false);
    return read(*stream, plan, result);
  }

  /// Runs a graph that only writes into stored tensors.
  void run_effects(Graph graph) { new_stream(2)->run(make_plan(std::move(graph)), false); }

  static std::vector<float> read(Stream& stream, const Plan& plan, TensorRef result) {
    std::vector<float> values(static_cast<size_t>(plan.graph.shape(result).count()));
    stream.read(plan, result, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }

 private:
  TensorStorage plain(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
    TensorStorage storage = zeros(dtype, shape);
    storage.name = "stored";
    storage.buffer->write(0, bytes);
    return storage;
  }

  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace brisk
