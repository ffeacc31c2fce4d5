#include <algorithm>
#include <cmath>

#include "cpu/exact_math.hpp"
#include "cpu/ops/tasks.hpp"

namespace brisk::cpu {

namespace {

/// Pair index at which a rotation turns `turns` times over the original context (YaRN, arXiv 2309.00071, eq. 17).
double yarn_pair(const RopeTableParams& p, double turns) {
  constexpr double kTwoPi = 6.283185307179586;
  return p.n_rot * exact_log(p.n_ctx_orig / (turns * kTwoPi)) / (2.0 * exact_log(static_cast<double>(p.freq_base)));
}

/// How much of each pair is left unscaled: 1 for fast pairs, 0 for slow ones, a ramp between.
std::vector<double> yarn_mix(const RopeTableParams& p) {
  std::vector<double> mix(static_cast<size_t>(p.n_rot / 2), 0.0);
  if (p.ext_factor == 0.0f || p.n_ctx_orig <= 0) return mix;
  const double low = std::max(0.0, std::floor(yarn_pair(p, p.beta_fast)));
  const double high = std::min(p.n_rot - 1.0, std::ceil(yarn_pair(p, p.beta_slow)));
  for (size_t i = 0; i < mix.size(); ++i) {
    const double t = (static_cast<double>(i) - low) / std::max(0.001, high - low);
    mix[i] = (1.0 - std::clamp(t, 0.0, 1.0)) * static_cast<double>(p.ext_factor);
  }
  return mix;
}

/// Angles in f64 with sines of our own, so that the table is the same on every machine.
class RopeTableTask : public OpTask {
 public:
  RopeTableTask(const TaskContext& context, const Node& node)
      : params_(std::get<RopeTableParams>(node.params)),
        positions_(context.ids(node.inputs[0])),
        out_(context.rows(node.output)) {
    if (node.inputs.size() > 1) factors_ = context.rows(node.inputs[1]).data;
    const double step = -2.0 / params_.n_rot * exact_log(static_cast<double>(params_.freq_base));
    const std::vector<double> mix = yarn_mix(params_);
    for (int i = 0; i < params_.n_rot / 2; ++i) {
      const double scaled = static_cast<double>(params_.freq_scale) * (1.0 - mix[static_cast<size_t>(i)]);
      speed_.push_back(exact_exp(step * i) * (scaled + mix[static_cast<size_t>(i)]));
    }
    // A sine costs about 30 values of simpler ops.
    rows_ = std::max<int64_t>(1, kChunkValues / 15 / out_.n);
  }

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(out_.rows, rows_); }

  void run(int, int64_t chunk, const Scratch&) override {
    const Span rows = chunk_span(chunk, rows_, out_.rows);
    const auto factor = static_cast<double>(params_.attn_factor);
    for (int64_t t = rows.begin; t < rows.end; ++t) {
      for (size_t i = 0; i < speed_.size(); ++i) {
        const double speed = factors_ ? speed_[i] / static_cast<double>(factors_[i]) : speed_[i];
        const SinCos angle = exact_sin_cos(positions_[t] * speed);
        out_.row(t)[2 * i] = static_cast<float>(angle.cos * factor);
        out_.row(t)[2 * i + 1] = static_cast<float>(angle.sin * factor);
      }
    }
  }

 private:
  RopeTableParams params_;
  const int32_t* positions_;
  const float* factors_ = nullptr;
  Rows out_;
  std::vector<double> speed_;  ///< angle a position
  int64_t rows_;
};

class RopeTask : public OpTask {
 public:
  RopeTask(const TaskContext& context, const Node& node)
      : x_(context.rows(node.inputs[0])), table_(context.rows(node.inputs[1])) {
    const auto& params = std::get<RopeParams>(node.params);
    const Shape& shape = context.graph().shape(node.output);
    kernel_ = params.layout == RopeLayout::norm ? context.kernels().rope_norm : context.kernels().rope_neox;
    args_.head_dim = static_cast<int32_t>(shape[0]);
    args_.n_heads = static_cast<int32_t>(shape[1]);
    args_.n_rot = params.n_rot;
    out_ = {context.rows(node.output).data, x_.n, x_.rows, x_.n};
    rows_ = std::max<int64_t>(1, kChunkValues / x_.n);
    if (x_.n * x_.rows <= 2 * kChunkValues) rows_ = x_.rows;
  }

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(x_.rows, rows_); }

  void run(int, int64_t chunk, const Scratch&) override {
    const Span rows = chunk_span(chunk, rows_, x_.rows);
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      RopeArgs args = args_;
      args.x = x_.row(i);
      args.table = table_.row(i);
      args.out = out_.row(i);
      kernel_(args);
    }
  }

 private:
  Rows x_, table_, out_;
  RopeArgs args_{};
  void (*kernel_)(const RopeArgs&) noexcept = nullptr;
  int64_t rows_;
};

}  // namespace

std::unique_ptr<OpTask> make_rope_table(const TaskContext& context, const Node& node) {
  return std::make_unique<RopeTableTask>(context, node);
}

std::unique_ptr<OpTask> make_rope(const TaskContext& context, const Node& node) {
  return std::make_unique<RopeTask>(context, node);
}

}  // namespace brisk::cpu
