#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quant/dtype.hpp"
#include "tensor/buffer.hpp"
#include "tensor/op_list.hpp"
#include "tensor/shape.hpp"

namespace brisk {

/// Where a tensor that outlives a graph lies: a weight, a KV store, an input. The buffer's owner keeps it alive.
struct TensorStorage {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  Buffer* buffer = nullptr;
  uint64_t offset = 0;
};

/// Index of a tensor in its graph.
struct TensorRef {
  int32_t index = -1;
  [[nodiscard]] bool valid() const { return index >= 0; }
  bool operator==(const TensorRef&) const = default;
};

/// A tensor of a graph: stored outside (buffer != nullptr), a view of another, or an intermediate result that a plan
/// places. Only rows may be apart: row i of a view starts at `offset + i * row_stride` bytes from its base.
struct Tensor {
  std::string name;
  DType dtype;
  Shape shape;
  uint64_t row_stride;       ///< bytes from a row (innermost dimension) to the next
  Buffer* buffer = nullptr;  ///< of a stored tensor
  uint64_t offset = 0;       ///< in the buffer, or from the start of the viewed tensor
  int32_t view_of = -1;      ///< index of the tensor that this one is a view of (never itself a view)
};

/// One operation: inputs and the tensor that it makes.
struct Node {
  Op op;
  OpParams params;
  std::vector<TensorRef> inputs;
  TensorRef output;
};

/// A list of operations in the order in which they were built, which is an order they can run in. Built by the
/// functions in ops.hpp, which check shapes and name both operands when these do not fit.
class Graph {
 public:
  /// Makes a stored tensor known to the graph.
  TensorRef store(const TensorStorage& storage);
  /// Values of each row [first, first + count) of `of`; no copy.
  TensorRef view_columns(TensorRef of, int64_t first, int64_t count);
  /// The same values under another shape. Rows of a view of columns lie apart and keep their length.
  TensorRef reshape(TensorRef of, const Shape& shape);
  /// Appends a node whose output is a new f32 tensor.
  TensorRef add(Op op, OpParams params, std::vector<TensorRef> inputs, const Shape& shape, std::string name = {});
  /// Appends a node that only writes into its stored inputs (store_kv).
  void add_effect(Op op, OpParams params, std::vector<TensorRef> inputs);
  /// Drops the nodes for which `keep` (by index) is false; nothing that is kept may read their results.
  void keep_nodes(const std::vector<bool>& keep);
  /// Keeps the tensor readable after the run.
  void mark_output(TensorRef tensor);

  [[nodiscard]] const Tensor& tensor(TensorRef ref) const { return tensors_[static_cast<size_t>(ref.index)]; }
  [[nodiscard]] Shape shape(TensorRef ref) const { return tensor(ref).shape; }
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<TensorRef>& outputs() const { return outputs_; }
  [[nodiscard]] std::string describe(TensorRef ref) const;  ///< "'blk.0.attn_q.weight' q4_K [576, 576]"

 private:
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
  std::vector<TensorRef> outputs_;
};

}  // namespace brisk
