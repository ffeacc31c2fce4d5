#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/kernels/op_kernels.hpp"
#include "cpu/kernels/table.hpp"
#include "tensor/plan.hpp"

namespace brisk::cpu {

/// Rows of f32 that may lie apart. Does not own.
struct Rows {
  float* data = nullptr;
  int64_t n = 0;  ///< values of a row
  int64_t rows = 0;
  int64_t stride = 0;  ///< floats from a row to the next
  [[nodiscard]] float* row(int64_t i) const { return data + i * stride; }
  [[nodiscard]] bool contiguous() const { return stride == n || rows == 1; }
};

/// What an op's task is made from: the plan's tensors with their addresses, which hold until the arena moves.
class TaskContext {
 public:
  TaskContext(const Plan& plan, std::byte* arena, const KernelTable& table)
      : plan_(plan), arena_(arena), table_(table) {}

  [[nodiscard]] const Graph& graph() const { return plan_.graph; }
  [[nodiscard]] const Tensor& tensor(TensorRef ref) const { return plan_.graph.tensor(ref); }
  /// Plain memory of a tensor; packed weights have none.
  [[nodiscard]] std::byte* address(TensorRef ref) const;
  [[nodiscard]] Rows rows(TensorRef ref) const;
  [[nodiscard]] const int32_t* ids(TensorRef ref) const { return reinterpret_cast<const int32_t*>(address(ref)); }
  [[nodiscard]] const KernelTable& table() const { return table_; }
  [[nodiscard]] const OpKernels& kernels() const { return *table_.ops; }

 private:
  const Plan& plan_;
  std::byte* arena_;
  const KernelTable& table_;
};

/// Memory that a chunk may use: `shared` by all threads from the first phase of a node to its last, `local` to the
/// thread during one chunk. Both are 64-byte aligned and hold anything at first.
struct Scratch {
  std::byte* shared = nullptr;
  std::byte* local = nullptr;
};

/// A node made ready to run: one or more phases, each a number of chunks that any threads run in any order. A barrier
/// lies between phases. Results never depend on how the work is split.
class OpTask {
 public:
  virtual ~OpTask() = default;
  [[nodiscard]] virtual int phases() const { return 1; }
  /// Chunks of a phase in the coming run, asked after begin(): 0 = nothing to do, 1 = too little to share, kDynamic =
  /// known only when the phases before are done.
  [[nodiscard]] virtual int64_t chunks(int phase) const = 0;
  static constexpr int64_t kDynamic = -1;
  /// The same answer in every thread.
  [[nodiscard]] virtual int64_t dynamic_chunks(int /*phase*/, const Scratch& /*scratch*/) const { return 0; }
  /// Before each run, on the caller's thread: looks at stored inputs.
  virtual void begin(int /*n_threads*/) {}
  /// Asked after begin().
  [[nodiscard]] virtual uint64_t shared_bytes() const { return 0; }
  [[nodiscard]] virtual uint64_t local_bytes() const { return 0; }
  /// May throw Error.
  virtual void run(int phase, int64_t chunk, const Scratch& scratch) = 0;
};

/// One row an op.
struct OpRow {
  Op op;
  std::unique_ptr<OpTask> (*make)(const TaskContext& context, const Node& node);
  /// Types and parameters; null = all that the graph builder lets through.
  bool (*accepts)(const Graph& graph, const Node& node);
};

/// nullptr when the CPU does not have the op.
[[nodiscard]] const OpRow* find_op(Op op) noexcept;

/// Part `chunk` of `n` things in runs of `step`: [begin, end).
struct Span {
  int64_t begin;
  int64_t end;
};
[[nodiscard]] constexpr Span chunk_span(int64_t chunk, int64_t step, int64_t n) {
  return {chunk * step, (chunk + 1) * step < n ? (chunk + 1) * step : n};
}
[[nodiscard]] constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Values that a chunk of an elementwise op handles, about 2 us: below, a barrier would cost more than it saves.
inline constexpr int64_t kChunkValues = 8192;

}  // namespace brisk::cpu
