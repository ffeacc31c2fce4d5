#include <algorithm>
#include <functional>
#include <utility>

#include "cpu/ops/tasks.hpp"

namespace brisk::cpu {

namespace {

/// out = fn(x, y) value by value; y may be null, of x's shape, or one row for all.
using PointwiseFn = std::function<void(const float* x, const float* y, float* out, int64_t n)>;

/// Rows that lie one behind the other are one long row; long rows are cut into columns, short ones handled together.
class PointwiseTask : public OpTask {
 public:
  PointwiseTask(Rows x, Rows y, Rows out, PointwiseFn fn) : x_(x), y_(y), out_(out), fn_(std::move(fn)) {
    const bool one_y = y.data && y.rows == 1 && x.rows > 1;
    if (!one_y && x.contiguous() && out.contiguous() && (!y.data || y.contiguous())) {
      for (Rows* rows : {&x_, &y_, &out_}) {
        rows->n *= rows->rows;
        rows->rows = 1;
      }
    }
    columns_ = std::min(x_.n, kChunkValues);
    column_chunks_ = divide_up(x_.n, columns_);
    rows_ = std::max<int64_t>(1, kChunkValues / columns_);
    if (x_.n * x_.rows <= 2 * kChunkValues) {
      columns_ = x_.n;
      column_chunks_ = 1;
      rows_ = x_.rows;
    }
    if (y_.data && y_.rows == 1) y_.stride = 0;
  }

  [[nodiscard]] int64_t chunks(int) const override { return column_chunks_ * divide_up(x_.rows, rows_); }

  void run(int, int64_t chunk, const Scratch&) override {
    const Span rows = chunk_span(chunk / column_chunks_, rows_, x_.rows);
    const Span columns = chunk_span(chunk % column_chunks_, columns_, x_.n);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      fn_(x_.row(i) + columns.begin, y_.data ? y_.row(i) + columns.begin : nullptr, out_.row(i) + columns.begin,
          columns.end - columns.begin);
    }
  }

 private:
  Rows x_, y_, out_;
  PointwiseFn fn_;
  int64_t columns_, column_chunks_, rows_;
};

std::unique_ptr<OpTask> pointwise(const TaskContext& context, const Node& node, PointwiseFn fn) {
  const Rows y = node.inputs.size() > 1 ? context.rows(node.inputs[1]) : Rows{};
  return std::make_unique<PointwiseTask>(context.rows(node.inputs[0]), y, context.rows(node.output), std::move(fn));
}

int index_of(Activation act) { return static_cast<int>(act); }

}  // namespace

std::unique_ptr<OpTask> make_add(const TaskContext& context, const Node& node) {
  return pointwise(context, node, context.kernels().add);
}

std::unique_ptr<OpTask> make_mul(const TaskContext& context, const Node& node) {
  return pointwise(context, node, context.kernels().mul);
}

std::unique_ptr<OpTask> make_scale(const TaskContext& context, const Node& node) {
  const float factor = std::get<ScaleParams>(node.params).factor;
  return pointwise(context, node,
                   [scale = context.kernels().scale, factor](const float* x, const float*, float* out, int64_t n) {
                     scale(x, factor, out, n);
                   });
}

std::unique_ptr<OpTask> make_soft_cap(const TaskContext& context, const Node& node) {
  const float cap = std::get<SoftCapParams>(node.params).cap;
  return pointwise(context, node,
                   [kernel = context.kernels().soft_cap, cap](const float* x, const float*, float* out, int64_t n) {
                     kernel(x, cap, out, n);
                   });
}

std::unique_ptr<OpTask> make_gated(const TaskContext& context, const Node& node) {
  const int act = index_of(std::get<ActivationParams>(node.params).act);
  return pointwise(context, node, context.kernels().gated[act]);
}

std::unique_ptr<OpTask> make_activate(const TaskContext& context, const Node& node) {
  const int act = index_of(std::get<ActivationParams>(node.params).act);
  return pointwise(context, node,
                   [kernel = context.kernels().activate[act]](const float* x, const float*, float* out, int64_t n) {
                     kernel(x, out, n);
                   });
}

}  // namespace brisk::cpu
