#include "model/arch/shared.hpp"

// GPT-2: learned positions, layer norm before each block, a plain feed-forward with GELU, biases everywhere.
namespace brisk::model {

namespace {

void read_gpt2(const HyperReader& reader, HyperParams& hp) {
  hp.norm_epsilon = reader.positive("attention.layer_norm_epsilon");
  hp.learned_positions = true;
  for (LayerParams& layer : hp.layers) layer.rotated = false;
}

TensorRef gpt2_embed(Build& b) { return add(b.g, b.embed_tokens(), b.embed_positions()); }

TensorRef gpt2_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  const Qkv qkv = b.qkv(b.norm(x, w.attn_norm, w.attn_norm_b), il);
  const TensorRef attended = b.wanted(b.attention(qkv, il), il);
  x = add(b.g, b.wanted(x, il), b.linear(w.attn_output, attended, w.attn_output_b));
  const TensorRef up = b.linear(w.ffn_up, b.norm(x, w.ffn_norm, w.ffn_norm_b), w.ffn_up_b);
  return add(b.g, x, b.linear(w.ffn_down, activate(b.g, up, Activation::gelu_tanh), w.ffn_down_b));
}

TensorRef gpt2_head(Build& b, TensorRef x) {
  return b.logits(b.norm(x, b.globals().output_norm, b.globals().output_norm_b));
}

constexpr TensorDecl kGpt2[] = {
    {&G::position_embd, "position_embd.weight", {Dim::embd, Dim::context}},
    {&G::output_norm_b, "output_norm.bias", {Dim::embd}},
    {&L::attn_norm_b, "attn_norm.bias", {Dim::embd}},
    {&L::attn_output_b, "attn_output.bias", {Dim::embd}},
    {&L::ffn_norm_b, "ffn_norm.bias", {Dim::embd}},
    {&L::ffn_up, "ffn_up.weight", {Dim::embd, Dim::ff}},
    {&L::ffn_up_b, "ffn_up.bias", {Dim::ff}},
    {&L::ffn_down, "ffn_down.weight", {Dim::ff, Dim::embd}},
    {&L::ffn_down_b, "ffn_down.bias", {Dim::embd}},
};
constexpr std::span<const TensorDecl> kTensors[] = {kEmbedding, kOutputOrTied, kPreNorms, kAttention, kQkvBias, kGpt2};

}  // namespace

extern const Architecture kGpt2Architecture{"gpt2", read_gpt2, kTensors, gpt2_embed, gpt2_layer, gpt2_head};

}  // namespace brisk::model
