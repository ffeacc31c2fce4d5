#include "tensor/graph.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace brisk {

std::string to_string(const Shape& shape) {
  int last = 3;
  while (last > 0 && shape[last] == 1) --last;
  std::string text = fmt::format("[{}", shape[0]);
  for (int i = 1; i <= last; ++i) text += fmt::format(", {}", shape[i]);
  return text + "]";
}

TensorRef Graph::store(const TensorStorage& storage) {
  BRISK_CHECK(storage.buffer != nullptr, "a stored tensor has a buffer");
  const auto row_bytes = bytes_of(storage.dtype, static_cast<uint64_t>(storage.shape[0]));
  tensors_.push_back(
      {storage.name, storage.dtype, storage.shape, row_bytes, storage.buffer, storage.offset, /*view_of=*/-1});
  return {static_cast<int32_t>(tensors_.size()) - 1};
}

TensorRef Graph::view_columns(TensorRef of, int64_t first, int64_t count) {
  const Tensor base = tensor(of);
  if (first < 0 || count < 1 || first + count > base.shape[0]) {
    fail(ErrorCode::invalid_argument, "view of columns {}..{} is outside {}", first, first + count, describe(of));
  }
  BRISK_CHECK(traits(base.dtype).block_length == 1, "columns of a block type cannot be viewed");
  Tensor view = base;
  view.buffer = nullptr;
  view.shape.dim[0] = count;
  const uint64_t inner = base.view_of >= 0 ? base.offset : 0;
  view.offset = inner + bytes_of(base.dtype, static_cast<uint64_t>(first));
  view.view_of = base.view_of >= 0 ? base.view_of : of.index;
  tensors_.push_back(view);
  return {static_cast<int32_t>(tensors_.size()) - 1};
}

TensorRef Graph::reshape(TensorRef of, const Shape& shape) {
  const Tensor base = tensor(of);
  if (shape.count() != base.shape.count()) {
    fail(ErrorCode::invalid_argument, "{} cannot take the shape {}", describe(of), to_string(shape));
  }
  const uint64_t packed = bytes_of(base.dtype, static_cast<uint64_t>(base.shape[0]));
  const bool apart = base.row_stride != packed && base.shape.rows() > 1;
  if (apart && shape[0] != base.shape[0]) {
    fail(ErrorCode::invalid_argument, "{} is a view of columns; its rows cannot be split", describe(of));
  }
  Tensor view = base;
  view.buffer = nullptr;
  view.shape = shape;
  view.row_stride = apart ? base.row_stride : bytes_of(base.dtype, static_cast<uint64_t>(shape[0]));
  view.offset = base.view_of >= 0 ? base.offset : 0;
  view.view_of = base.view_of >= 0 ? base.view_of : of.index;
  tensors_.push_back(view);
  return {static_cast<int32_t>(tensors_.size()) - 1};
}

TensorRef Graph::add(Op op, OpParams params, std::vector<TensorRef> inputs, const Shape& shape, std::string name) {
  const TensorRef output{static_cast<int32_t>(tensors_.size())};
  if (name.empty()) name = fmt::format("{}#{}", name_of(op), nodes_.size());
  tensors_.push_back({std::move(name), DType::f32, shape, static_cast<uint64_t>(shape[0]) * sizeof(float)});
  nodes_.push_back({op, params, std::move(inputs), output});
  return output;
}

void Graph::add_effect(Op op, OpParams params, std::vector<TensorRef> inputs) {
  nodes_.push_back({op, params, std::move(inputs), TensorRef{}});
}

void Graph::keep_nodes(const std::vector<bool>& keep) {
  size_t index = 0;
  std::erase_if(nodes_, [&](const Node&) { return !keep[index++]; });
}

void Graph::mark_output(TensorRef tensor) { outputs_.push_back(tensor); }

std::string Graph::describe(TensorRef ref) const {
  const Tensor& t = tensor(ref);
  return fmt::format("'{}' {} {}", t.name, traits(t.dtype).name, to_string(t.shape));
}

}  // namespace brisk
