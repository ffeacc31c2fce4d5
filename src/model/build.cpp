#include "model/build.hpp"

#include "base/error.hpp"
#include "model/arch/arch.hpp"

namespace brisk::model {

Weight rope_factors(const Model& model, int32_t n_ctx) {
  const GlobalWeights& w = model.globals();
  if (w.rope_freqs != nullptr) return w.rope_freqs;
  return n_ctx > model.params().n_ctx_orig ? w.rope_long : w.rope_short;
}

Build::Build(const Model& model, const KvCache& kv, const GraphInputs& inputs)
    : model_(model),
      kv_(kv),
      inputs_(inputs),
      positions_(g.store(inputs.positions)),
      slots_(g.store(inputs.slots)),
      sequences_(g.store(inputs.sequences)) {
  for (int32_t group = 0; group < kv.n_groups(); ++group) page_tables_.push_back(g.store(kv.page_table(group)));
  // With an output for every token there is nothing to select.
  if (inputs.output_rows.shape != inputs.tokens.shape) output_rows_ = g.store(inputs.output_rows);
}

TensorRef Build::use(Weight weight) { return weight == nullptr ? TensorRef{} : g.store(*weight); }

TensorRef Build::embed_tokens() {
  const TensorRef rows = embed_rows(g, use(globals().token_embd), g.store(inputs_.tokens));
  return hp().embedding_scale == 1.0f ? rows : scale(g, rows, hp().embedding_scale);
}

TensorRef Build::embed_positions() { return embed_rows(g, use(globals().position_embd), positions_); }

TensorRef Build::rms(TensorRef x, Weight weight) { return rms_norm(g, x, use(weight), hp().norm_epsilon); }

TensorRef Build::norm(TensorRef x, Weight weight, Weight bias) {
  return layer_norm(g, x, use(weight), use(bias), hp().norm_epsilon);
}

TensorRef Build::linear(Weight weight, TensorRef x, Weight bias) { return matmul(g, use(weight), x, use(bias)); }

Qkv Build::qkv(TensorRef x, int32_t il) {
  const LayerWeights& w = layer(il);
  const AttentionParams p = hp().attention(il);
  TensorRef product;
  if (w.attn_qkv != nullptr) {
    product = linear(w.attn_qkv, x, w.attn_qkv_b);
  } else {
    const TensorRef weights[] = {use(w.attn_q), use(w.attn_k), use(w.attn_v)};
    const TensorRef biases[] = {use(w.attn_q_b), use(w.attn_k_b), use(w.attn_v_b)};
    product = matmul(g, weights, x, biases);
  }
  const int64_t n_q = int64_t{p.n_head} * p.head_dim;
  const int64_t n_k = int64_t{p.n_head_kv} * p.head_dim;
  const int64_t n_v = int64_t{p.n_head_kv} * p.head_dim_v;
  return {g.view_columns(product, 0, n_q), g.view_columns(product, n_q, n_k), g.view_columns(product, n_q + n_k, n_v)};
}

TensorRef Build::rope_angles(bool windowed) {
  TensorRef& angles = angles_[windowed ? 1 : 0];
  if (!angles.valid()) {
    const TensorRef factors = use(rope_factors(model_, kv_.options().n_ctx));
    angles = rope_table(g, positions_, factors, windowed ? hp().rope_windowed : hp().rope);
  }
  return angles;
}

TensorRef Build::rotate(TensorRef x, int32_t il) {
  const LayerParams& layer_params = hp().layer(il);
  if (!layer_params.rotated) return x;
  return rope(g, x, rope_angles(layer_params.windowed), hp().head_dim, hp().rope_layout);
}

TensorRef Build::attention(const Qkv& qkv, int32_t il) {
  const KvCache::Layer& store = kv_.layer(il);
  const KvInputs kv{g.store(store.k), g.store(store.v), slots_, sequences_,
                    page_tables_[static_cast<size_t>(store.group)]};
  const AttentionParams params = hp().attention(il);
  store_kv(g, qkv.k, qkv.v, kv, params);
  return brisk::attention(g, qkv.q, kv, params);
}

TensorRef Build::wanted(TensorRef x, int32_t il) {
  if (il + 1 < hp().n_layer() || !output_rows_.valid()) return x;
  return select_rows(g, x, output_rows_);
}

TensorRef Build::gated_ffn(TensorRef x, const LayerWeights& w, Activation act) {
  const TensorRef weights[] = {use(w.ffn_gate), use(w.ffn_up)};
  const TensorRef biases[] = {use(w.ffn_gate_b), use(w.ffn_up_b)};
  const TensorRef both = matmul(g, weights, x, biases);
  const int64_t n_ff = w.ffn_up->shape[1];
  const TensorRef gate = g.view_columns(both, 0, n_ff);
  const TensorRef up = g.view_columns(both, n_ff, n_ff);
  return linear(w.ffn_down, gated(g, gate, up, act), w.ffn_down_b);
}

TensorRef Build::experts(TensorRef x, const LayerWeights& w, bool norm_weights) {
  const TensorRef router = linear(w.ffn_gate_inp, x);
  const MoeParams params{hp().moe.n_used, ExpertGating::softmax, norm_weights, 1.0f, Activation::silu};
  const ExpertWeights weights{use(w.ffn_gate_exps), use(w.ffn_up_exps), use(w.ffn_down_exps)};
  return moe_ffn(g, x, router, weights, params);
}

TensorRef Build::shared_expert(TensorRef x, const LayerWeights& w) {
  const TensorRef weights[] = {use(w.ffn_gate_shexp), use(w.ffn_up_shexp)};
  const TensorRef both = matmul(g, weights, x);
  const int64_t n_ff = w.ffn_up_shexp->shape[1];
  const TensorRef gate = g.view_columns(both, 0, n_ff);
  const TensorRef up = g.view_columns(both, n_ff, n_ff);
  return linear(w.ffn_down_shexp, gated(g, gate, up, Activation::silu));
}

TensorRef Build::logits(TensorRef x) {
  const TensorRef product = linear(globals().output, x, globals().output_b);
  return hp().logit_soft_cap > 0.0f ? soft_cap(g, product, hp().logit_soft_cap) : product;
}

BuiltGraph build_graph(const Model& model, const KvCache& kv, const GraphInputs& inputs, bool wants_logits) {
  const Architecture& architecture = model.architecture();
  Build b(model, kv, inputs);
  TensorRef x = architecture.embed(b);
  for (int32_t il = 0; il < model.params().n_layer(); ++il) x = architecture.layer(b, x, il);
  const TensorRef logits = architecture.head(b, x);
  if (wants_logits) b.g.mark_output(logits);
  return {without_unread_nodes(std::move(b.g)), logits};
}

}  // namespace brisk::model
