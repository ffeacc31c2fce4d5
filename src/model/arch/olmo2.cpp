#include "model/arch/shared.hpp"

// OLMo 2 and 3: norms after the blocks instead of before, and over the whole width of q and k. OLMo 3 has three
// windowed layers before each full one, and these ignore the scaling of rotary embedding.
namespace brisk::model {

namespace {

void read_olmo2(const HyperReader& reader, HyperParams& hp) {
  read_rms(reader, hp);
  read_window(reader, 4, hp);
  hp.rope_layout = RopeLayout::neox;
  RopeTableParams local{};
  local.n_rot = hp.rope.n_rot;
  local.freq_base = hp.rope.freq_base;
  hp.rope_windowed = local;
}

TensorRef olmo2_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  Qkv qkv = b.qkv(x, il);
  qkv.q = b.rotate(b.rms(qkv.q, w.attn_q_norm), il);
  qkv.k = b.rotate(b.rms(qkv.k, w.attn_k_norm), il);
  const TensorRef attended = b.linear(w.attn_output, b.wanted(b.attention(qkv, il), il));
  x = add(b.g, b.wanted(x, il), b.rms(attended, w.attn_post_norm));
  return add(b.g, x, b.rms(b.gated_ffn(x, w, Activation::silu), w.ffn_post_norm));
}

constexpr TensorDecl kWideNorms[] = {
    {&L::attn_q_norm, "attn_q_norm.weight", {Dim::q}},
    {&L::attn_k_norm, "attn_k_norm.weight", {Dim::k}},
};
constexpr std::span<const TensorDecl> kTensors[] = {kEmbedding, kOutput, kPostNorms, kAttention, kWideNorms, kGatedFfn};

}  // namespace

extern const Architecture kOlmo2{"olmo2", read_olmo2, kTensors, embed_tokens, olmo2_layer, rms_head};

}  // namespace brisk::model
