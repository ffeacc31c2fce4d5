#include "tools/bench_work.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace brisk::tools {

namespace {

double bytes_of_values(DType dtype, double n) {
  const DTypeTraits& type = traits(dtype);
  return n / type.block_length * type.block_bytes;
}

void add_ops(BenchOps& ops, DType dtype, double n) { (traits(dtype).quantized ? ops.int8 : ops.fp32) += n; }

double count(const gguf::TensorInfo& tensor) {
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(), 1.0, std::multiplies<>());
}

/// A phase of a test.
struct Phase {
  BenchOps ops;
  double bytes = 0;

  [[nodiscard]] LeastTime least(const MachinePeaks& peaks) const {
    const double int8 = ops.int8 / peaks.int8_ops;
    const double fp32 = ops.fp32 / peaks.fp32_ops;
    const double read = bytes / peaks.read_bytes;
    if (read > int8 + fp32) return {read, "read"};
    return {int8 + fp32, int8 >= fp32 ? "int8" : "fp32"};
  }
};

void add(BenchOps& sum, const BenchOps& ops, double times) {
  sum.int8 += ops.int8 * times;
  sum.fp32 += ops.fp32 * times;
}

/// Each run of the graph reads every weight once; the prompt's own KV is read from the caches and does not count.
Phase prompt_phase(const ModelCost& cost, int32_t n, const BatchSizes& sizes) {
  Phase phase;
  const int32_t n_ubatch = std::min(sizes.n_batch, sizes.n_ubatch);
  add(phase.ops, cost.layers, n);
  add(phase.ops, cost.head, (n + sizes.n_batch - 1) / sizes.n_batch);
  phase.bytes = cost.all_bytes * ((n + n_ubatch - 1) / n_ubatch);
  return phase;
}

LeastTime generation_time(const ModelCost& cost, int32_t first, int32_t n, const MachinePeaks& peaks) {
  LeastTime sum;
  for (int32_t i = 0; i < n; ++i) {
    Phase step;
    add(step.ops, cost.layers, 1);
    add(step.ops, cost.head, 1);
    step.bytes = cost.bytes + cost.kv_bytes(first + i);
    const LeastTime time = step.least(peaks);
    sum = {sum.seconds + time.seconds, time.limit};
  }
  return sum;
}

}  // namespace

double ModelCost::kv_bytes(int64_t n) const {
  double sum = 0;
  for (const KvLayer& layer : kv) {
    sum += layer.bytes * static_cast<double>(layer.window > 0 ? std::min<int64_t>(n, layer.window) : n);
  }
  return sum;
}

ModelCost cost_of(const gguf::Model& file, const model::HyperParams& params, DType type_k, DType type_v) {
  ModelCost cost;
  const bool own_head = std::ranges::any_of(file.tensors(), [](const auto& t) { return t.name == "output.weight"; });
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    const bool in_layer = tensor.name.starts_with("blk.") && tensor.n_dims > 1;
    const bool head = tensor.name == (own_head ? "output.weight" : "token_embd.weight");
    if (!in_layer && !head) continue;
    const bool experts = tensor.n_dims > 2 && params.moe.n_expert > 0;
    const double used = experts ? static_cast<double>(params.moe.n_used) / params.moe.n_expert : 1.0;
    const auto bytes = static_cast<double>(tensor.size_bytes);
    add_ops(head ? cost.head : cost.layers, tensor.dtype, 2.0 * count(tensor) * used);
    cost.bytes += bytes * used;
    cost.all_bytes += bytes;
  }
  for (int32_t il = 0; il < params.n_layer(); ++il) {
    const AttentionParams attention = params.attention(il);
    cost.kv.push_back({bytes_of_values(type_k, double{1} * attention.n_head_kv * attention.head_dim) +
                           bytes_of_values(type_v, double{1} * attention.n_head_kv * attention.head_dim_v),
                       attention.window});
  }
  return cost;
}

LeastTime least_time(const ModelCost& cost, const BenchTest& test, const BatchSizes& sizes, const MachinePeaks& peaks) {
  const LeastTime generation = generation_time(cost, test.n_depth + test.n_prompt, test.n_gen, peaks);
  if (test.n_prompt == 0) return generation;
  const LeastTime prompt = prompt_phase(cost, test.n_prompt, sizes).least(peaks);
  const bool same = test.n_gen == 0 || prompt.limit == generation.limit;
  return {prompt.seconds + generation.seconds, same ? prompt.limit : "mixed"};
}

}  // namespace brisk::tools
