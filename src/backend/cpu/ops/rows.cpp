#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "cpu/ops/tasks.hpp"
#include "cpu/weight_loader.hpp"
#include "quant/codec.hpp"

namespace brisk::cpu {

namespace {

void check_id(int32_t id, int64_t n, Op op) {
  if (id < 0 || id >= n) {
    fail(ErrorCode::invalid_argument, "{}: row {} of a table of {} rows was asked for", name_of(op), id, n);
  }
}

/// Rows of a weight, decoded to f32.
class EmbedRowsTask : public OpTask {
 public:
  EmbedRowsTask(const TaskContext& context, const Node& node)
      : table_(matrix_view(context.tensor(node.inputs[0]))),
        ids_(context.ids(node.inputs[1])),
        out_(context.rows(node.output)) {
    rows_ = std::max<int64_t>(1, kChunkValues / out_.n);
  }

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(out_.rows, rows_); }

  void run(int, int64_t chunk, const Scratch&) override {
    const Span rows = chunk_span(chunk, rows_, out_.rows);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      check_id(ids_[i], table_.n, Op::embed_rows);
      const std::span<float> out(out_.row(i), static_cast<size_t>(out_.n));
      const int64_t id = ids_[i];
      if (table_.packed) {
        const std::byte* group =
            table_.data + static_cast<uint64_t>(id / kGroupRows) * group_bytes(table_.format, table_.k);
        unpack_row(table_.format, group, static_cast<int>(id % kGroupRows), out);
      } else {
        decode(table_.dtype,
               table_.data + static_cast<uint64_t>(id) * bytes_of(table_.dtype, static_cast<uint64_t>(table_.k)), out);
      }
    }
  }

 private:
  MatrixView table_;
  const int32_t* ids_;
  Rows out_;
  int64_t rows_;
};

class SelectRowsTask : public OpTask {
 public:
  SelectRowsTask(const TaskContext& context, const Node& node)
      : x_(context.rows(node.inputs[0])), ids_(context.ids(node.inputs[1])), out_(context.rows(node.output)) {}

  [[nodiscard]] int64_t chunks(int) const override { return 1; }

  void run(int, int64_t, const Scratch&) override {
    for (int64_t i = 0; i < out_.rows; ++i) {
      check_id(ids_[i], x_.rows, Op::select_rows);
      std::memcpy(out_.row(i), x_.row(ids_[i]), static_cast<size_t>(out_.n) * sizeof(float));
    }
  }

 private:
  Rows x_;
  const int32_t* ids_;
  Rows out_;
};

/// sigmoid(gate) * x, one gate a row.
class SigmoidMulTask : public OpTask {
 public:
  SigmoidMulTask(const TaskContext& context, const Node& node)
      : kernels_(context.kernels()),
        gate_(context.rows(node.inputs[0])),
        x_(context.rows(node.inputs[1])),
        out_(context.rows(node.output)) {
    rows_ = std::max<int64_t>(1, 2 * kChunkValues / out_.n);
  }

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(out_.rows, rows_); }

  void run(int, int64_t chunk, const Scratch&) override {
    const Span rows = chunk_span(chunk, rows_, out_.rows);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      float gate = 0;
      kernels_.sigmoid(gate_.row(i), &gate, 1);
      kernels_.scale(x_.row(i), gate, out_.row(i), out_.n);
    }
  }

 private:
  const OpKernels& kernels_;
  Rows gate_, x_, out_;
  int64_t rows_;
};

}  // namespace

bool accepts_embed_rows(const Graph& graph, const Node& node) {
  return is_weight_type(graph.tensor(node.inputs[0]).dtype);
}

std::unique_ptr<OpTask> make_embed_rows(const TaskContext& context, const Node& node) {
  return std::make_unique<EmbedRowsTask>(context, node);
}

std::unique_ptr<OpTask> make_select_rows(const TaskContext& context, const Node& node) {
  return std::make_unique<SelectRowsTask>(context, node);
}

std::unique_ptr<OpTask> make_sigmoid_mul(const TaskContext& context, const Node& node) {
  return std::make_unique<SigmoidMulTask>(context, node);
}

}  // namespace brisk::cpu
