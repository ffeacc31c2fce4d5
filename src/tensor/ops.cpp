#include "tensor/ops.hpp"

#include <string_view>

#include "base/error.hpp"

namespace brisk {

namespace {

[[noreturn]] void refuse(const Graph& g, Op op, std::string_view why, TensorRef a, TensorRef b) {
  fail(ErrorCode::invalid_argument, "{}: {}: {} with {}", name_of(op), why, g.describe(a), g.describe(b));
}

/// The operation whose operands are being checked.
struct Site {
  const Graph& g;
  Op op;
};

void require(bool condition, const Site& site, std::string_view why, TensorRef a, TensorRef b) {
  if (!condition) refuse(site.g, site.op, why, a, b);
}

void require_f32(const Graph& g, Op op, TensorRef a) {
  require(g.tensor(a).dtype == DType::f32, {g, op}, "expects f32", a, a);
}

void require_ids(const Graph& g, Op op, TensorRef ids, TensorRef other) {
  require(g.tensor(ids).dtype == DType::i32 && g.shape(ids).rows() == 1, {g, op}, "ids must be one row of i32", ids,
          other);
}

/// x and y have one shape, or y is one row of x's width.
void require_same_or_row(const Graph& g, Op op, TensorRef x, TensorRef y) {
  require_f32(g, op, x);
  require_f32(g, op, y);
  const Shape& a = g.shape(x);
  const Shape& b = g.shape(y);
  require(a == b || (b.rows() == 1 && a[0] == b[0]), {g, op}, "shapes do not fit", x, y);
}

void require_pages(const Graph& g, Op op, TensorRef q_or_k, const KvInputs& kv, const AttentionParams& p) {
  const Shape& k = g.shape(kv.k_pages);
  const Shape& v = g.shape(kv.v_pages);
  require(k[0] == kPagePositions * p.n_head_kv * p.head_dim, {g, op}, "K pages have another size", q_or_k, kv.k_pages);
  require(v[0] == kPagePositions * p.n_head_kv * p.head_dim_v, {g, op}, "V pages have another size", q_or_k,
          kv.v_pages);
  require(k[1] == v[1], {g, op}, "K and V have another number of pages", kv.k_pages, kv.v_pages);
  require_ids(g, op, kv.positions, q_or_k);
  require_ids(g, op, kv.sequences, q_or_k);
  require(g.shape(kv.sequences)[0] == g.shape(kv.positions)[0], {g, op}, "one sequence a position", kv.positions,
          kv.sequences);
  require(g.tensor(kv.page_table).dtype == DType::i32, {g, op}, "page table must be i32", q_or_k, kv.page_table);
}

void require_attention(const Graph& g, Op op, TensorRef q_or_k, const KvInputs& kv, const AttentionParams& p) {
  require_pages(g, op, q_or_k, kv, p);
  require(g.shape(kv.positions)[0] == g.shape(q_or_k)[1], {g, op}, "one position a row", q_or_k, kv.positions);
}

}  // namespace

TensorRef embed_rows(Graph& g, TensorRef table, TensorRef ids) {
  require_ids(g, Op::embed_rows, ids, table);
  return g.add(Op::embed_rows, NoParams{}, {table, ids}, {g.shape(table)[0], g.shape(ids)[0]});
}

TensorRef select_rows(Graph& g, TensorRef x, TensorRef rows) {
  require_ids(g, Op::select_rows, rows, x);
  require_f32(g, Op::select_rows, x);
  return g.add(Op::select_rows, NoParams{}, {x, rows}, {g.shape(x)[0], g.shape(rows)[0]});
}

TensorRef matmul(Graph& g, std::span<const TensorRef> weights, TensorRef x, std::span<const TensorRef> biases) {
  BRISK_CHECK(!weights.empty() && weights.size() <= 6, "matmul takes 1 to 6 weights");
  BRISK_CHECK(biases.empty() || biases.size() == weights.size(), "matmul takes a bias for each weight or none");
  require_f32(g, Op::matmul, x);
  std::vector<TensorRef> inputs{x};
  int64_t n_out = 0;
  bool any_bias = false;
  for (const TensorRef weight : weights) {
    require(g.shape(weight)[0] == g.shape(x)[0], {g, Op::matmul}, "row lengths differ", weight, x);
    n_out += g.shape(weight)[1];
    inputs.push_back(weight);
  }
  for (size_t i = 0; i < biases.size(); ++i) {
    if (!biases[i].valid()) continue;
    any_bias = true;
    require_f32(g, Op::matmul, biases[i]);
    require(g.shape(biases[i])[0] == g.shape(weights[i])[1], {g, Op::matmul}, "bias length differs", weights[i],
            biases[i]);
  }
  if (any_bias) inputs.insert(inputs.end(), biases.begin(), biases.end());
  return g.add(Op::matmul, NoParams{}, std::move(inputs), {n_out, g.shape(x)[1]}, g.tensor(weights[0]).name + " x");
}

TensorRef matmul(Graph& g, TensorRef weight, TensorRef x, TensorRef bias) {
  if (!bias.valid()) return matmul(g, std::span(&weight, 1), x);
  return matmul(g, std::span(&weight, 1), x, std::span(&bias, 1));
}

TensorRef add(Graph& g, TensorRef x, TensorRef y) {
  require_same_or_row(g, Op::add, x, y);
  return g.add(Op::add, NoParams{}, {x, y}, g.shape(x));
}

TensorRef mul(Graph& g, TensorRef x, TensorRef y) {
  require_same_or_row(g, Op::mul, x, y);
  return g.add(Op::mul, NoParams{}, {x, y}, g.shape(x));
}

TensorRef scale(Graph& g, TensorRef x, float factor) {
  require_f32(g, Op::scale, x);
  return g.add(Op::scale, ScaleParams{factor}, {x}, g.shape(x));
}

TensorRef soft_cap(Graph& g, TensorRef x, float cap) {
  require_f32(g, Op::soft_cap, x);
  return g.add(Op::soft_cap, SoftCapParams{cap}, {x}, g.shape(x));
}

TensorRef rms_norm(Graph& g, TensorRef x, TensorRef weight, float epsilon) {
  require_f32(g, Op::rms_norm, x);
  require(g.shape(x)[0] % g.shape(weight)[0] == 0, {g, Op::rms_norm}, "width is no multiple of the weight's", x,
          weight);
  return g.add(Op::rms_norm, NormParams{epsilon}, {x, weight}, g.shape(x));
}

TensorRef layer_norm(Graph& g, TensorRef x, TensorRef weight, TensorRef bias, float epsilon) {
  require_f32(g, Op::layer_norm, x);
  require(g.shape(x)[0] == g.shape(weight)[0], {g, Op::layer_norm}, "widths differ", x, weight);
  std::vector<TensorRef> inputs{x, weight};
  if (bias.valid()) inputs.push_back(bias);
  return g.add(Op::layer_norm, NormParams{epsilon}, std::move(inputs), g.shape(x));
}

TensorRef rope_table(Graph& g, TensorRef positions, TensorRef factors, const RopeTableParams& params) {
  require_ids(g, Op::rope_table, positions, positions);
  std::vector<TensorRef> inputs{positions};
  if (factors.valid()) {
    require(g.shape(factors)[0] == params.n_rot / 2, {g, Op::rope_table}, "one factor a pair", factors, positions);
    inputs.push_back(factors);
  }
  return g.add(Op::rope_table, params, std::move(inputs), {params.n_rot, g.shape(positions)[0]});
}

TensorRef rope(Graph& g, TensorRef x, TensorRef table, int64_t head_dim, RopeLayout layout) {
  require_f32(g, Op::rope, x);
  const int64_t n_rot = g.shape(table)[0];
  require(n_rot <= head_dim && g.shape(x)[0] % head_dim == 0, {g, Op::rope}, "head sizes do not fit", x, table);
  require(g.shape(x)[1] == g.shape(table)[1], {g, Op::rope}, "one column a row", x, table);
  // Output shape {head_dim, n_head * ...} would hide the token dimension; the head size is its first dimension instead.
  const TensorRef out = g.add(Op::rope, RopeParams{static_cast<int32_t>(n_rot), layout}, {x, table},
                              {head_dim, g.shape(x)[0] / head_dim, g.shape(x)[1]});
  return g.reshape(out, g.shape(x));
}

void store_kv(Graph& g, TensorRef k, TensorRef v, const KvInputs& kv, const AttentionParams& params) {
  require_f32(g, Op::store_kv, k);
  require_f32(g, Op::store_kv, v);
  require(g.shape(k)[0] == params.n_head_kv * params.head_dim, {g, Op::store_kv}, "K has another width", k, kv.k_pages);
  require(g.shape(v)[0] == params.n_head_kv * params.head_dim_v, {g, Op::store_kv}, "V has another width", v,
          kv.v_pages);
  require_attention(g, Op::store_kv, k, kv, params);
  g.add_effect(Op::store_kv, params, {k, v, kv.k_pages, kv.v_pages, kv.positions, kv.sequences, kv.page_table});
}

TensorRef load_kv(Graph& g, const KvInputs& kv, const AttentionParams& params) {
  require_pages(g, Op::load_kv, kv.k_pages, kv, params);
  const int64_t width = int64_t{params.n_head_kv} * (params.head_dim + params.head_dim_v);
  return g.add(Op::load_kv, params, {kv.k_pages, kv.v_pages, kv.positions, kv.sequences, kv.page_table},
               {width, g.shape(kv.positions)[0]});
}

TensorRef attention(Graph& g, TensorRef q, const KvInputs& kv, const AttentionParams& params) {
  require_f32(g, Op::attention, q);
  require(g.shape(q)[0] == params.n_head * params.head_dim, {g, Op::attention}, "Q has another width", q, kv.k_pages);
  require(params.n_head % params.n_head_kv == 0, {g, Op::attention}, "query heads are no multiple of KV heads", q, q);
  require_attention(g, Op::attention, q, kv, params);
  return g.add(Op::attention, params, {q, kv.k_pages, kv.v_pages, kv.positions, kv.sequences, kv.page_table},
               {params.n_head * params.head_dim_v, g.shape(q)[1]});
}

TensorRef gated(Graph& g, TensorRef gate, TensorRef up, Activation act) {
  require_f32(g, Op::gated, gate);
  require_f32(g, Op::gated, up);
  require(g.shape(gate) == g.shape(up), {g, Op::gated}, "shapes differ", gate, up);
  return g.add(Op::gated, ActivationParams{act}, {gate, up}, g.shape(gate));
}

TensorRef activate(Graph& g, TensorRef x, Activation act) {
  require_f32(g, Op::activate, x);
  return g.add(Op::activate, ActivationParams{act}, {x}, g.shape(x));
}

TensorRef sigmoid_mul(Graph& g, TensorRef gate, TensorRef x) {
  require(g.shape(gate)[0] == 1 && g.shape(gate)[1] == g.shape(x)[1], {g, Op::sigmoid_mul}, "one gate a row", gate, x);
  return g.add(Op::sigmoid_mul, NoParams{}, {gate, x}, g.shape(x));
}

TensorRef moe_ffn(Graph& g, TensorRef x, TensorRef logits, const ExpertWeights& experts, const MoeParams& params) {
  const auto [gate, up, down] = experts;
  require_f32(g, Op::moe_ffn, x);
  const int64_t n_expert = g.shape(logits)[0];
  require(g.shape(logits)[1] == g.shape(x)[1], {g, Op::moe_ffn}, "one row of logits a row", logits, x);
  require(params.n_used >= 1 && params.n_used <= n_expert, {g, Op::moe_ffn}, "more experts used than there are", logits,
          x);
  require(g.shape(gate)[2] == n_expert && g.shape(up)[2] == n_expert, {g, Op::moe_ffn}, "expert counts differ", gate,
          up);
  require(g.shape(down)[2] == n_expert, {g, Op::moe_ffn}, "expert counts differ", down, logits);
  require(g.shape(gate)[0] == g.shape(x)[0] && g.shape(gate) == g.shape(up), {g, Op::moe_ffn}, "widths differ", gate,
          x);
  require(g.shape(down)[0] == g.shape(gate)[1] && g.shape(down)[1] == g.shape(x)[0], {g, Op::moe_ffn}, "widths differ",
          down, gate);
  return g.add(Op::moe_ffn, params, {x, logits, gate, up, down}, g.shape(x));
}

}  // namespace brisk
