#include "cpu/matmul.hpp"

#include <algorithm>

#include "cpu/ops/tasks.hpp"
#include "cpu/weight_loader.hpp"

namespace brisk::cpu {

namespace {

// Weights a chunk of a one-tile product reads: 64 k of them take 2 to 4 us from memory, well above the cost of taking a
// chunk.
constexpr int64_t kChunkWeights = 65536;
// Products below this many multiplications take less time on one thread than a barrier costs.
constexpr int64_t kInlineProducts = 1 << 18;
// Tiles a chunk covers: 512 tokens, so that even the unpacked weights are made once a prompt chunk.
constexpr int64_t kChunkTiles = 32;

struct Weight {
  MatrixView view;
  const float* bias = nullptr;
  int64_t column = 0;       ///< first output value
  int64_t first_chunk = 0;  ///< of the product phase
  int64_t groups_per_chunk = 1;
  size_t activations = 0;  ///< index of its form of x
};

/// Phase 0 packs x once for each form that the weights need, phase 1 multiplies.
class MatmulTask : public OpTask {
 public:
  MatmulTask(const TaskContext& context, const Node& node)
      : table_(context.table()), x_(context.rows(node.inputs[0])), out_(context.rows(node.output)) {
    add_weights(context, node);
    tiles_ = tile_count(x_.rows);
    tile_chunks_ = divide_up(tiles_, kChunkTiles);
    pack_tiles_ = x_.rows * x_.n <= 2 * kChunkValues ? tiles_ : 1;
    split();
  }

  [[nodiscard]] int phases() const override { return 2; }
  [[nodiscard]] int64_t chunks(int phase) const override {
    return phase == 0 ? divide_up(tiles_, pack_tiles_) * static_cast<int64_t>(forms_.size()) : chunks_;
  }
  [[nodiscard]] uint64_t shared_bytes() const override { return form_bytes_ * forms_.size(); }
  [[nodiscard]] uint64_t local_bytes() const override { return local_bytes_; }

  void run(int phase, int64_t chunk, const Scratch& scratch) override {
    if (phase == 0) {
      pack(chunk, scratch);
    } else if (chunks_ == 1) {
      for (const Weight& weight : weights_) multiply(weight, {0, group_count(weight.view.n), 0, tiles_}, scratch);
    } else {
      const auto after = std::ranges::upper_bound(weights_, chunk, {}, &Weight::first_chunk);
      const Weight& weight = *std::prev(after);
      const int64_t index = chunk - weight.first_chunk;
      const Span groups = chunk_span(index / tile_chunks_, weight.groups_per_chunk, group_count(weight.view.n));
      const Span tiles = chunk_span(index % tile_chunks_, kChunkTiles, tiles_);
      multiply(weight, {groups.begin, groups.end, tiles.begin, tiles.end}, scratch);
    }
  }

 private:
  void add_weights(const TaskContext& context, const Node& node) {
    const size_t n_inputs = node.inputs.size() - 1;
    int64_t rows = 0;
    for (size_t i = 1; i <= n_inputs; ++i)
      rows += node.inputs[i].valid() ? context.graph().shape(node.inputs[i])[1] : 0;
    const bool biased = rows != out_.n;
    const size_t n_weights = biased ? n_inputs / 2 : n_inputs;
    int64_t column = 0;
    for (size_t i = 0; i < n_weights; ++i) {
      Weight weight;
      weight.view = matrix_view(context.tensor(node.inputs[1 + i]));
      weight.column = column;
      column += weight.view.n;
      const TensorRef bias = biased ? node.inputs[1 + n_weights + i] : TensorRef{};
      if (bias.valid()) weight.bias = context.rows(bias).data;
      const ActivationFormat form = activation_format(weight.view.format);
      const auto known = std::ranges::find(forms_, form);
      weight.activations = static_cast<size_t>(known - forms_.begin());
      if (known == forms_.end()) forms_.push_back(form);
      form_bytes_ = std::max(form_bytes_, (activation_bytes(form, x_.rows, x_.n) + 63) / 64 * 64);
      local_bytes_ = std::max(local_bytes_, matmul_scratch_bytes(weight.view));
      weights_.push_back(weight);
    }
  }

  void split() {
    for (Weight& weight : weights_) {
      const int64_t groups = group_count(weight.view.n);
      weight.groups_per_chunk = std::max<int64_t>(1, kChunkWeights / (kGroupRows * weight.view.k));
      weight.first_chunk = chunks_;
      chunks_ += divide_up(groups, weight.groups_per_chunk) * tile_chunks_;
    }
    if (out_.n * x_.n * x_.rows <= kInlineProducts) chunks_ = 1;
  }

  void pack(int64_t chunk, const Scratch& scratch) const {
    const auto n_forms = static_cast<int64_t>(forms_.size());
    const auto form = static_cast<size_t>(chunk % n_forms);
    const Span tiles = chunk_span(chunk / n_forms, pack_tiles_, tiles_);
    ActivationSource source{x_.data, x_.stride, nullptr, x_.rows, x_.n, 0};
    pack_activations(table_, forms_[form], source, tiles.begin, tiles.end, scratch.shared + form * form_bytes_);
  }

  void multiply(const Weight& weight, const MatmulRange& range, const Scratch& scratch) const {
    const ActivationView x{forms_[weight.activations], scratch.shared + weight.activations * form_bytes_, x_.rows,
                           x_.n};
    matmul_groups(table_, weight.view, x, {out_.data + weight.column, out_.stride, nullptr}, range, scratch.local);
    if (!weight.bias) return;
    const int64_t first = range.group_begin * kGroupRows;
    const int64_t last = std::min(range.group_end * kGroupRows, weight.view.n);
    const int64_t n_tokens = std::min(range.tile_end * kTileTokens, x_.rows);
    for (int64_t t = range.tile_begin * kTileTokens; t < n_tokens; ++t) {
      float* y = out_.row(t) + weight.column + first;
      table_.ops->add(y, weight.bias + first, y, last - first);
    }
  }

  const KernelTable& table_;
  Rows x_, out_;
  std::vector<Weight> weights_;
  std::vector<ActivationFormat> forms_;
  uint64_t form_bytes_ = 0;
  uint64_t local_bytes_ = 0;
  int64_t tiles_ = 0, tile_chunks_ = 1, pack_tiles_ = 1;
  int64_t chunks_ = 0;
};

}  // namespace

bool accepts_matmul(const Graph& graph, const Node& node) {
  const int64_t n_out = graph.shape(node.output)[0];
  int64_t rows = 0;
  for (size_t i = 1; i < node.inputs.size() && rows < n_out; ++i) {
    const Tensor& weight = graph.tensor(node.inputs[i]);
    if (!is_weight_type(weight.dtype) || !weight.buffer) return false;
    rows += weight.shape[1];
  }
  return true;
}

std::unique_ptr<OpTask> make_matmul(const TaskContext& context, const Node& node) {
  return std::make_unique<MatmulTask>(context, node);
}

}  // namespace brisk::cpu
