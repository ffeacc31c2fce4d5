#include <algorithm>
#include <cstring>

#include "cpu/matmul.hpp"
#include "cpu/ops/tasks.hpp"
#include "cpu/weight_loader.hpp"

namespace brisk::cpu {

namespace {

constexpr int64_t kChunkWeights = 65536;

// Below this a sum of weights is not divided by: 2^-14, the field's usual guard.
constexpr float kLeastWeightSum = 0x1p-14f;

/// Which tokens go to which expert. A slot is one (token, choice) pair; the slots of an expert stand together, tokens
/// in order, so that an expert's tokens form tiles.
struct Routes {
  int32_t* expert;   ///< [m * n_used] by token and choice, falling weight
  float* weight;     ///< the same
  int32_t* slot;     ///< the same
  int32_t* token;    ///< by slot
  int32_t* start;    ///< [n_expert + 1] first slot of an expert
  int32_t* touched;  ///< [n_expert] experts with slots
  int32_t* n_touched;
};

/// Phases: route; pack x by expert; gate and up; activation and packing; down; weighted sum. A single token needs
/// neither grouping nor a packing for each expert, and all of its counts are known before.
class MoeTask : public OpTask {
 public:
  MoeTask(const TaskContext& context, const Node& node)
      : table_(context.table()),
        x_(context.rows(node.inputs[0])),
        logits_(context.rows(node.inputs[1])),
        out_(context.rows(node.output)),
        params_(std::get<MoeParams>(node.params)) {
    for (int64_t e = 0; e < logits_.n; ++e) {
      gate_.push_back(matrix_view(context.tensor(node.inputs[2]), e));
      up_.push_back(matrix_view(context.tensor(node.inputs[3]), e));
      down_.push_back(matrix_view(context.tensor(node.inputs[4]), e));
    }
    n_slots_ = x_.rows * params_.n_used;
    n_ff_ = gate_[0].n;
    single_ = x_.rows == 1;
    lay_out();
  }

  [[nodiscard]] int phases() const override { return 6; }
  [[nodiscard]] int64_t chunks(int phase) const override {
    if (phase == 0) return 1;
    if (phase == 5) return divide_up(x_.rows, sum_rows());
    if (!single_) return kDynamic;
    return phase == 1 ? 0 : params_.n_used * chunks_of_expert(phase);
  }
  [[nodiscard]] int64_t dynamic_chunks(int phase, const Scratch& scratch) const override {
    return *routes(scratch).n_touched * chunks_of_expert(phase);
  }
  [[nodiscard]] uint64_t shared_bytes() const override { return total_bytes_; }
  [[nodiscard]] uint64_t local_bytes() const override {
    return std::max({matmul_scratch_bytes(gate_[0]), matmul_scratch_bytes(up_[0]), matmul_scratch_bytes(down_[0])});
  }

  void run(int phase, int64_t chunk, const Scratch& scratch) override {
    if (phase == 0) return route(scratch);
    if (phase == 5) return sum(chunk, scratch);
    const int64_t parts = chunks_of_expert(phase);
    const int32_t expert = routes(scratch).touched[chunk / parts];
    const int64_t part = chunk % parts;
    if (phase == 1) return pack_x(expert, scratch);
    if (phase == 2) return multiply_gate_up(expert, part, scratch);
    if (phase == 3) return activate(expert, scratch);
    multiply(down_[static_cast<size_t>(expert)], {kHidden, kResult}, expert, part, scratch);
  }

 private:
  /// Parts of the shared scratch.
  enum Area { kRoutes, kGateX, kUpX, kGate, kUp, kHidden, kResult, kAreas };
  struct Product {
    Area from;  ///< packed activations
    Area to;    ///< rows of the result, by slot
  };

  [[nodiscard]] int64_t sum_rows() const { return std::max<int64_t>(1, kChunkValues / (out_.n * params_.n_used)); }

  [[nodiscard]] int64_t groups_per_chunk(int64_t k) const {
    return std::max<int64_t>(1, kChunkWeights / (kGroupRows * k));
  }
  [[nodiscard]] int64_t parts(const MatrixView& w) const { return divide_up(group_count(w.n), groups_per_chunk(w.k)); }
  [[nodiscard]] int64_t chunks_of_expert(int phase) const {
    if (phase == 2) return 2 * parts(gate_[0]);
    return phase == 4 ? parts(down_[0]) : 1;
  }

  void lay_out() {
    const auto slots = static_cast<uint64_t>(n_slots_);
    const auto experts = static_cast<uint64_t>(logits_.n);
    const auto packed = [&](const MatrixView& w) {
      return activation_bytes(activation_format(w.format), n_slots_, w.k);
    };
    uint64_t size[kAreas];
    size[kRoutes] = 4 * (4 * slots + 2 * experts + 2 + experts);
    size[kGateX] = packed(gate_[0]);
    size[kUpX] = packed(up_[0]);
    size[kGate] = 4 * slots * static_cast<uint64_t>(n_ff_);
    size[kUp] = size[kGate];
    size[kHidden] = packed(down_[0]);
    size[kResult] = 4 * slots * static_cast<uint64_t>(out_.n);
    for (int i = 0; i < kAreas; ++i) {
      offset_[i] = total_bytes_;
      total_bytes_ += (size[i] + 63) / 64 * 64;
    }
  }

  [[nodiscard]] std::byte* area(Area a, const Scratch& scratch) const { return scratch.shared + offset_[a]; }

  [[nodiscard]] float* slot_row(Area a, int64_t slot, const Scratch& scratch) const {
    return reinterpret_cast<float*>(area(a, scratch)) + slot * (a == kResult ? out_.n : n_ff_);
  }

  [[nodiscard]] Routes routes(const Scratch& scratch) const {
    auto* p = reinterpret_cast<int32_t*>(area(kRoutes, scratch));
    Routes r{};
    r.expert = p;
    r.weight = reinterpret_cast<float*>(p + n_slots_);
    r.slot = p + 2 * n_slots_;
    r.token = p + 3 * n_slots_;
    r.start = p + 4 * n_slots_;
    r.touched = r.start + logits_.n + 1;
    r.n_touched = r.touched + logits_.n;
    return r;
  }

  void route(const Scratch& scratch) const {
    const Routes r = routes(scratch);
    std::vector<float> score(static_cast<size_t>(logits_.n));
    for (int64_t t = 0; t < x_.rows; ++t) choose(t, score, r);
    std::fill_n(r.start, logits_.n + 1, 0);
    for (int64_t i = 0; i < n_slots_; ++i) ++r.start[r.expert[i] + 1];
    *r.n_touched = 0;
    for (int32_t e = 0; e < logits_.n; ++e) {
      if (r.start[e + 1] > 0) r.touched[(*r.n_touched)++] = e;
      r.start[e + 1] += r.start[e];
    }
    std::vector<int32_t> next(r.start, r.start + logits_.n);
    for (int64_t i = 0; i < n_slots_; ++i) {
      const int32_t slot = next[static_cast<size_t>(r.expert[i])]++;
      r.slot[i] = slot;
      r.token[slot] = static_cast<int32_t>(i / params_.n_used);
    }
    if (single_) {
      pack_rows(gate_[0], {x_.data, x_.stride, nullptr, 1, x_.n, 0}, area(kGateX, scratch));
      pack_rows(up_[0], {x_.data, x_.stride, nullptr, 1, x_.n, 0}, area(kUpX, scratch));
    }
  }

  /// The experts of one token by falling score, the lower number first among equals, and their weights.
  void choose(int64_t token, std::vector<float>& score, const Routes& r) const {
    const OpKernels& kernels = *table_.ops;
    const float* logits = logits_.row(token);
    if (params_.gating == ExpertGating::softmax) kernels.softmax(logits, score.data(), logits_.n);
    if (params_.gating == ExpertGating::sigmoid) kernels.sigmoid(logits, score.data(), logits_.n);
    if (params_.gating == ExpertGating::softmax_selected) std::copy_n(logits, logits_.n, score.data());
    int32_t* expert = r.expert + token * params_.n_used;
    float* weight = r.weight + token * params_.n_used;
    for (int32_t i = 0; i < params_.n_used; ++i) {
      int32_t best = -1;
      for (int32_t e = 0; e < logits_.n; ++e) {
        if (std::find(expert, expert + i, e) != expert + i) continue;
        if (best < 0 || score[static_cast<size_t>(e)] > score[static_cast<size_t>(best)]) best = e;
      }
      expert[i] = best;
      weight[i] = score[static_cast<size_t>(best)];
    }
    if (params_.gating == ExpertGating::softmax_selected) kernels.softmax(weight, weight, params_.n_used);
    float divisor = 0.0f;
    for (int32_t i = 0; i < params_.n_used; ++i) divisor += weight[i];
    divisor = std::max(divisor, kLeastWeightSum);
    for (int32_t i = 0; i < params_.n_used; ++i) {
      if (params_.norm_weights) weight[i] /= divisor;
      weight[i] *= params_.weight_scale;
    }
  }

  void pack_rows(const MatrixView& w, const ActivationSource& source, std::byte* out) const {
    pack_activations(table_, activation_format(w.format), source, 0, tile_count(source.n_tokens), out);
  }

  [[nodiscard]] int64_t slots_of(int32_t expert, const Routes& r) const {
    return r.start[expert + 1] - r.start[expert];
  }

  /// Packed activations of the expert's slots for products with w.
  [[nodiscard]] std::byte* packed_at(Area a, const MatrixView& w, int32_t expert, const Scratch& scratch) const {
    if (single_ && a != kHidden) return area(a, scratch);
    return area(a, scratch) + activation_bytes(activation_format(w.format), routes(scratch).start[expert], w.k);
  }

  void pack_x(int32_t expert, const Scratch& scratch) const {
    const Routes r = routes(scratch);
    const ActivationSource source{x_.data, x_.stride, r.token + r.start[expert], slots_of(expert, r), x_.n, 0};
    pack_rows(gate_[0], source, packed_at(kGateX, gate_[0], expert, scratch));
    pack_rows(up_[0], source, packed_at(kUpX, up_[0], expert, scratch));
  }

  void multiply_gate_up(int32_t expert, int64_t part, const Scratch& scratch) const {
    const auto e = static_cast<size_t>(expert);
    const int64_t gate_parts = parts(gate_[0]);
    if (part < gate_parts) {
      multiply(gate_[e], {kGateX, kGate}, expert, part, scratch);
    } else {
      multiply(up_[e], {kUpX, kUp}, expert, part - gate_parts, scratch);
    }
  }

  void multiply(const MatrixView& w, Product product, int32_t expert, int64_t part, const Scratch& scratch) const {
    const Routes r = routes(scratch);
    const int64_t n = slots_of(expert, r);
    const Span groups = chunk_span(part, groups_per_chunk(w.k), group_count(w.n));
    const ActivationView x{activation_format(w.format), packed_at(product.from, w, expert, scratch), n, w.k};
    const MatmulOutput y{slot_row(product.to, r.start[expert], scratch), w.n, nullptr};
    matmul_groups(table_, w, x, y, {groups.begin, groups.end, 0, tile_count(n)}, scratch.local);
  }

  void activate(int32_t expert, const Scratch& scratch) const {
    const Routes r = routes(scratch);
    const int64_t n = slots_of(expert, r);
    float* gate = slot_row(kGate, r.start[expert], scratch);
    const float* up = slot_row(kUp, r.start[expert], scratch);
    table_.ops->gated[static_cast<int>(params_.act)](gate, up, gate, n * n_ff_);
    pack_rows(down_[0], {gate, n_ff_, nullptr, n, n_ff_, 0}, packed_at(kHidden, down_[0], expert, scratch));
  }

  void sum(int64_t chunk, const Scratch& scratch) const {
    const Routes r = routes(scratch);
    const OpKernels& kernels = *table_.ops;
    const Span tokens = chunk_span(chunk, sum_rows(), x_.rows);
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      for (int64_t i = 0; i < params_.n_used; ++i) {
        const int64_t at = t * params_.n_used + i;
        const float* y = slot_row(kResult, r.slot[at], scratch);
        if (i == 0) {
          kernels.scale(y, r.weight[at], out_.row(t), out_.n);
        } else {
          kernels.add_scaled(y, r.weight[at], out_.row(t), out_.n);
        }
      }
    }
  }

  const KernelTable& table_;
  Rows x_, logits_, out_;
  MoeParams params_;
  std::vector<MatrixView> gate_, up_, down_;  ///< by expert
  int64_t n_slots_ = 0;
  int64_t n_ff_ = 0;
  bool single_ = false;
  uint64_t offset_[kAreas] = {};
  uint64_t total_bytes_ = 0;
};

}  // namespace

bool accepts_moe(const Graph& graph, const Node& node) {
  for (size_t i = 2; i < 5; ++i) {
    const Tensor& weight = graph.tensor(node.inputs[i]);
    if (!is_weight_type(weight.dtype) || !weight.buffer) return false;
  }
  return true;
}

std::unique_ptr<OpTask> make_moe_ffn(const TaskContext& context, const Node& node) {
  return std::make_unique<MoeTask>(context, node);
}

}  // namespace brisk::cpu
