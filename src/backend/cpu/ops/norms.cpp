#include <algorithm>

#include "cpu/ops/tasks.hpp"

namespace brisk::cpu {

namespace {

using NormKernel = void (*)(const NormArgs&) noexcept;

/// Every run of `weight` length (or every row) is normalised by itself.
class NormTask : public OpTask {
 public:
  NormTask(const TaskContext& context, const Node& node, NormKernel kernel)
      : x_(context.rows(node.inputs[0])), out_(context.rows(node.output)), kernel_(kernel) {
    args_ = {nullptr, nullptr, nullptr, nullptr, x_.n, std::get<NormParams>(node.params).epsilon};
    if (node.inputs.size() > 1 && node.inputs[1].valid()) {
      args_.weight = context.rows(node.inputs[1]).data;
      args_.n = context.graph().shape(node.inputs[1])[0];
    }
    if (node.inputs.size() > 2 && node.inputs[2].valid()) args_.bias = context.rows(node.inputs[2]).data;
    rows_ = std::max<int64_t>(1, kChunkValues / x_.n);
    if (x_.n * x_.rows <= 2 * kChunkValues) rows_ = x_.rows;
  }

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(x_.rows, rows_); }

  void run(int, int64_t chunk, const Scratch&) override {
    const Span rows = chunk_span(chunk, rows_, x_.rows);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      for (int64_t at = 0; at < x_.n; at += args_.n) {
        NormArgs args = args_;
        args.x = x_.row(i) + at;
        args.out = out_.row(i) + at;
        kernel_(args);
      }
    }
  }

 private:
  Rows x_, out_;
  NormKernel kernel_;
  NormArgs args_{};
  int64_t rows_;
};

}  // namespace

std::unique_ptr<OpTask> make_rms_norm(const TaskContext& context, const Node& node) {
  return std::make_unique<NormTask>(context, node, context.kernels().rms_norm);
}

std::unique_ptr<OpTask> make_layer_norm(const TaskContext& context, const Node& node) {
  return std::make_unique<NormTask>(context, node, context.kernels().layer_norm);
}

}  // namespace brisk::cpu
