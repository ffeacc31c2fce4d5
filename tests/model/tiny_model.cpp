#include "tiny_model.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace brisk::model::test {

namespace {

using Values = TinyModel::Values;

constexpr double kEpsilon = 1e-5;

Values times(const Values& matrix, const Values& x) {
  Values y(matrix.size() / x.size(), 0.0);
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
  }
  return y;
}

Values rms_norm(const Values& x, const Values& weight) {
  double sum = 0.0;
  for (const double v : x) sum += v * v;
  const double scale = 1.0 / std::sqrt(sum / static_cast<double>(x.size()) + kEpsilon);
  Values y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
  return y;
}

Values sum(const Values& a, const Values& b) {
  Values y = a;
  for (size_t i = 0; i < y.size(); ++i) y[i] += b[i];
  return y;
}

double activation(double x, bool gelu) {
  if (!gelu) return x / (1.0 + std::exp(-x));
  return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

void rotate(Values& x, int32_t head_dim, int32_t position, const ReferenceOptions& o) {
  const int32_t n_rot = o.n_rot > 0 ? o.n_rot : head_dim;
  for (size_t head = 0; head < x.size(); head += static_cast<size_t>(head_dim)) {
    for (int32_t i = 0; i < n_rot / 2; ++i) {
      const double angle = position * o.frequency(i);
      double& a = x[head + static_cast<size_t>(o.neox ? i : 2 * i)];
      double& b = x[head + static_cast<size_t>(o.neox ? i + n_rot / 2 : 2 * i + 1)];
      const double c = std::cos(angle) * o.magnitude;
      const double s = std::sin(angle) * o.magnitude;
      const double rotated = a * c - b * s;
      b = a * s + b * c;
      a = rotated;
    }
  }
}

/// Keys and values of one layer, a row a position.
struct Cache {
  std::vector<Values> k, v;
};

Values attend(const Values& q, const Cache& cache, const TinySizes& s, int32_t window) {
  Values out(q.size(), 0.0);
  const auto dim = static_cast<size_t>(s.head_dim);
  const size_t n = cache.k.size();
  const size_t first = window > 0 && n > static_cast<size_t>(window) ? n - static_cast<size_t>(window) : 0;
  for (size_t head = 0; head < static_cast<size_t>(s.n_head); ++head) {
    const size_t kv = head / static_cast<size_t>(s.n_head / s.n_head_kv) * dim;
    Values weights;
    double total = 0.0;
    for (size_t p = first; p < n; ++p) {
      double score = 0.0;
      for (size_t i = 0; i < dim; ++i) score += q[head * dim + i] * cache.k[p][kv + i];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
      total += weights.back();
    }
    for (size_t p = first; p < n; ++p) {
      for (size_t i = 0; i < dim; ++i) out[head * dim + i] += weights[p - first] / total * cache.v[p][kv + i];
    }
  }
  return out;
}

Values layer(const TinyModel& m, int32_t il, const Values& x, Cache& cache, const ReferenceOptions& o) {
  const auto w = [&](const char* name) { return m.values(fmt::format("blk.{}.{}.weight", il, name)); };
  const auto position = static_cast<int32_t>(cache.k.size());
  const Values h = rms_norm(x, w("attn_norm"));
  Values q = times(w("attn_q"), h);
  Values k = times(w("attn_k"), h);
  rotate(q, m.sizes().head_dim, position, o);
  rotate(k, m.sizes().head_dim, position, o);
  cache.k.push_back(k);
  cache.v.push_back(times(w("attn_v"), h));
  const Values y = sum(x, times(w("attn_output"), attend(q, cache, m.sizes(), o.window)));
  const Values f = rms_norm(y, w("ffn_norm"));
  Values gate = times(w("ffn_gate"), f);
  const Values up = times(w("ffn_up"), f);
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = activation(gate[i], o.gelu) * up[i];
  return sum(y, times(w("ffn_down"), gate));
}

}  // namespace

TinyModel::TinyModel(std::string architecture, const TinySizes& s) : architecture_(std::move(architecture)), sizes_(s) {
  builder_.str("general.architecture", architecture_);
  const auto number = [&](const char* name, int32_t value) { builder_.u32(key(name), static_cast<uint32_t>(value)); };
  number("block_count", s.n_layer);
  number("context_length", 256);
  number("embedding_length", s.n_embd);
  number("feed_forward_length", s.n_ff);
  number("attention.head_count", s.n_head);
  number("attention.head_count_kv", s.n_head_kv);
  number("attention.key_length", s.head_dim);
  number("attention.value_length", s.head_dim);
  number("vocab_size", s.n_vocab);
  builder_.f32(key("attention.layer_norm_rms_epsilon"), static_cast<float>(kEpsilon));
  const auto matrix = [&](const std::string& name, int64_t n_in, int64_t n_out) {
    set(name, {n_in, n_out}, random(static_cast<size_t>(n_in * n_out), 1.5 / std::sqrt(static_cast<double>(n_in))));
  };
  const auto vector = [&](const std::string& name) {
    set(name, {s.n_embd}, random(static_cast<size_t>(s.n_embd), 0.3, 1.0));
  };
  matrix("token_embd.weight", s.n_embd, s.n_vocab);
  vector("output_norm.weight");
  for (int32_t il = 0; il < s.n_layer; ++il) {
    const auto name = [&](const char* part) { return fmt::format("blk.{}.{}.weight", il, part); };
    vector(name("attn_norm"));
    vector(name("ffn_norm"));
    matrix(name("attn_q"), s.n_embd, int64_t{s.n_head} * s.head_dim);
    matrix(name("attn_k"), s.n_embd, int64_t{s.n_head_kv} * s.head_dim);
    matrix(name("attn_v"), s.n_embd, int64_t{s.n_head_kv} * s.head_dim);
    matrix(name("attn_output"), int64_t{s.n_head} * s.head_dim, s.n_embd);
    matrix(name("ffn_gate"), s.n_embd, s.n_ff);
    matrix(name("ffn_up"), s.n_embd, s.n_ff);
    matrix(name("ffn_down"), s.n_ff, s.n_embd);
  }
}

/// Uniform, rounded to f32 so that file and reference hold the same numbers.
Values TinyModel::random(size_t n, double scale, double centre) {
  Values values(n);
  for (double& value : values) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(centre + scale * (static_cast<double>(state_ >> 33) / 1073741824.0 - 1.0));
  }
  return values;
}

void TinyModel::set(const std::string& name, std::vector<int64_t> dims, Values values) {
  tensors_[name] = {std::move(dims), std::move(values)};
}

std::string TinyModel::file() const {
  brisk::test::GgufBuilder builder = builder_;
  for (const auto& [name, stored] : tensors_) {
    std::string data;
    for (const double value : stored.values) data += brisk::test::le(static_cast<float>(value));
    builder.tensor({.name = name, .dims = stored.dims, .type = 0, .data = data});
  }
  return builder.build();
}

std::vector<float> reference_logits(const TinyModel& m, const std::vector<int32_t>& tokens, const ReferenceOptions& o) {
  std::vector<Cache> caches(static_cast<size_t>(m.sizes().n_layer));
  const Values& embedding = m.values("token_embd.weight");
  Values x;
  for (const int32_t token : tokens) {
    const auto row = embedding.begin() + static_cast<ptrdiff_t>(token) * m.sizes().n_embd;
    x.assign(row, row + m.sizes().n_embd);
    for (double& value : x) value *= o.embedding_scale;
    for (int32_t il = 0; il < m.sizes().n_layer; ++il) x = layer(m, il, x, caches[static_cast<size_t>(il)], o);
  }
  const Values logits = times(embedding, rms_norm(x, m.values("output_norm.weight")));
  return {logits.begin(), logits.end()};
}

}  // namespace brisk::model::test
