#include "model/arch/shared.hpp"

// Llama 1 to 3, Mistral, Mixtral, Yi, SmolLM and many more: RMS norm before attention and feed-forward, rotary
// embedding of adjacent pairs (the converter permutes Q and K), SwiGLU or softmax-routed experts (Touvron 2023, arXiv
// 2302.13971).
namespace brisk::model {

namespace {

void read_llama(const HyperReader& reader, HyperParams& hp) {
  read_rms(reader, hp);
  hp.attention_scale = reader.nonzero_or("attention.scale", hp.attention_scale);
  hp.rope_layout = RopeLayout::norm;
  read_window(reader, 0, hp);  // Mistral 7B v0.1: every layer
  if (hp.moe.n_expert > 0) {
    read_expert_width(reader, hp.layers[0].n_ff, hp);
    hp.moe.n_ff_shared = reader.count_or("expert_shared_feed_forward_length", 0, {0, 1 << 23});
  }
}

void read_smollm3(const HyperReader& reader, HyperParams& hp) {
  read_llama(reader, hp);
  for (size_t il = 0; il < hp.layers.size(); ++il) hp.layers[il].rotated = (il + 1) % 4 != 0;
}

TensorRef llama_ffn(Build& b, TensorRef x, const LayerWeights& w) {
  if (w.ffn_gate_inp == nullptr) return b.gated_ffn(x, w, Activation::silu);
  const TensorRef routed = b.experts(x, w, /*norm_weights=*/true);
  return w.ffn_up_shexp == nullptr ? routed : add(b.g, routed, b.shared_expert(x, w));
}

TensorRef llama_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), attention_block(b, x, il));
  return add(b.g, x, llama_ffn(b, b.rms(x, w.ffn_norm), w));
}

constexpr std::span<const TensorDecl> kTensors[] = {kEmbedding, kOutputOrTied, kRopeFactors,
                                                    kPreNorms,  kAttention,    kOptionalBiases,
                                                    kGatedFfn,  kExperts,      kSharedExpert};

}  // namespace

extern const Architecture kLlama{"llama", read_llama, kTensors, embed_tokens, llama_layer, rms_head};
/// The same block; every fourth layer without rotary embedding.
extern const Architecture kSmollm3{"smollm3", read_smollm3, kTensors, embed_tokens, llama_layer, rms_head};

}  // namespace brisk::model
