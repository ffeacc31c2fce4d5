#include "model/arch/shared.hpp"

namespace brisk::model {

TensorRef embed_tokens(Build& b) { return b.embed_tokens(); }

TensorRef rms_head(Build& b, TensorRef x) { return b.logits(b.rms(x, b.globals().output_norm)); }

TensorRef attention_block(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  Qkv qkv = b.qkv(b.rms(x, w.attn_norm), il);
  if (w.attn_q_norm != nullptr) qkv.q = b.rms(qkv.q, w.attn_q_norm);
  if (w.attn_k_norm != nullptr) qkv.k = b.rms(qkv.k, w.attn_k_norm);
  qkv.q = b.rotate(qkv.q, il);
  qkv.k = b.rotate(qkv.k, il);
  const TensorRef attended = b.wanted(b.attention(qkv, il), il);
  return b.linear(w.attn_output, attended, w.attn_output_b);
}

void read_rms(const HyperReader& reader, HyperParams& hp) {
  hp.norm_epsilon = reader.positive("attention.layer_norm_rms_epsilon");
}

void read_expert_width(const HyperReader& reader, int32_t fallback, HyperParams& hp) {
  hp.moe.n_ff = reader.count_or("expert_feed_forward_length", fallback, {1, 1 << 23});
}

}  // namespace brisk::model
