#include "model/arch/shared.hpp"

// Phi-3 and Phi-4-mini: the llama block with one fused matrix for q, k, v and one for gate and up, half-split (for
// Phi-4-mini partial) rotary embedding, and long or short factors of the angles by the configured context (longrope).
namespace brisk::model {

namespace {

void read_phi3(const HyperReader& reader, HyperParams& hp) {
  read_rms(reader, hp);
  // The file may name a window; llama.cpp attends to everything, and so do we for the same text.
  hp.rope_layout = RopeLayout::neox;
}

TensorRef fused_ffn(Build& b, TensorRef x, const LayerWeights& w, int64_t n_ff) {
  const TensorRef both = b.linear(w.ffn_up, x);
  const TensorRef gate = b.g.view_columns(both, 0, n_ff);
  const TensorRef up = b.g.view_columns(both, n_ff, n_ff);
  return b.linear(w.ffn_down, gated(b.g, gate, up, Activation::silu));
}

TensorRef phi3_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), attention_block(b, x, il));
  return add(b.g, x, fused_ffn(b, b.rms(x, w.ffn_norm), w, b.hp().layer(il).n_ff));
}

constexpr TensorDecl kFusedFfn[] = {
    {&L::ffn_up, "ffn_up.weight", {Dim::embd, Dim::two_ff}},
    {&L::ffn_down, "ffn_down.weight", {Dim::ff, Dim::embd}},
};
constexpr std::span<const TensorDecl> kTensors[] = {kEmbedding, kOutputOrTied, kRopeFactors,
                                                    kPreNorms,  kAttention,    kFusedFfn};

}  // namespace

extern const Architecture kPhi3{"phi3", read_phi3, kTensors, embed_tokens, phi3_layer, rms_head};

}  // namespace brisk::model
