#include <cmath>

#include "model/arch/shared.hpp"

// Gemma 1 to 3: embeddings times sqrt(n_embd), GeGLU, half-split rotary embedding; 2 and 3 normalise before and after
// each block and let most layers see a window only; 2 caps scores and logits, 3 normalises q and k of each head
// instead.
namespace brisk::model {

namespace {

void read_gemma(const HyperReader& reader, HyperParams& hp) {
  read_rms(reader, hp);
  hp.rope_layout = RopeLayout::neox;
  hp.embedding_scale = std::sqrt(static_cast<float>(hp.n_embd));
}

/// The 27B models divide by the width of a head as n_embd / n_head has it, not by the head size.
void scale_by_embedding(HyperParams& hp) {
  hp.attention_scale = 1.0f / std::sqrt(static_cast<float>(hp.n_embd / hp.layers[0].n_head));
}

void read_gemma2(const HyperReader& reader, HyperParams& hp) {
  read_gemma(reader, hp);
  read_window(reader, 2, hp);
  hp.attention_soft_cap = reader.positive_or("attn_logit_softcapping", 50.0f);
  hp.logit_soft_cap = reader.positive_or("final_logit_softcapping", 30.0f);
  if (hp.n_layer() == 46) scale_by_embedding(hp);
}

void read_gemma3(const HyperReader& reader, HyperParams& hp) {
  read_gemma(reader, hp);
  read_window(reader, 6, hp);
  hp.logit_soft_cap = reader.nonzero_or("final_logit_softcapping", 0.0f);
  RopeTableParams local{};
  local.n_rot = hp.rope.n_rot;
  local.freq_base = reader.positive_or("rope.freq_base_swa", 10000.0f);
  hp.rope_windowed = local;
  if (hp.n_layer() == 62) scale_by_embedding(hp);
}

TensorRef gemma_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), attention_block(b, x, il));
  return add(b.g, x, b.gated_ffn(b.rms(x, w.ffn_norm), w, Activation::gelu_tanh));
}

TensorRef sandwich_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), b.rms(attention_block(b, x, il), w.attn_post_norm));
  const TensorRef ffn = b.gated_ffn(b.rms(x, w.ffn_norm), w, Activation::gelu_tanh);
  return add(b.g, x, b.rms(ffn, w.ffn_post_norm));
}

constexpr std::span<const TensorDecl> kGemmaTensors[] = {kEmbedding, kOutputOrTied, kPreNorms, kAttention, kGatedFfn};
constexpr std::span<const TensorDecl> kGemma2Tensors[] = {kEmbedding, kOutputOrTied, kPreNorms,
                                                          kPostNorms, kAttention,    kGatedFfn};
constexpr std::span<const TensorDecl> kGemma3Tensors[] = {kEmbedding, kOutputOrTied, kPreNorms, kPostNorms,
                                                          kAttention, kHeadNorms,    kGatedFfn};

}  // namespace

extern const Architecture kGemma{"gemma", read_gemma, kGemmaTensors, embed_tokens, gemma_layer, rms_head};
extern const Architecture kGemma2{"gemma2", read_gemma2, kGemma2Tensors, embed_tokens, sandwich_layer, rms_head};
extern const Architecture kGemma3{"gemma3", read_gemma3, kGemma3Tensors, embed_tokens, sandwich_layer, rms_head};

}  // namespace brisk::model
