#include "model/arch/shared.hpp"

// Qwen 1.5 to 3: the llama block with rotary embedding of half-split pairs; biases on q, k and v (2) or norms of each
// head (3); experts with (3) or without (2) normalised weights, and in 2 a shared expert behind a gate of its own.
namespace brisk::model {

namespace {

void read_qwen(const HyperReader& reader, HyperParams& hp) {
  read_rms(reader, hp);
  hp.rope_layout = RopeLayout::neox;
}

void read_qwen2moe(const HyperReader& reader, HyperParams& hp) {
  read_qwen(reader, hp);
  const int32_t n_ff = hp.layers[0].n_ff;
  read_expert_width(reader, hp.moe.n_used > 0 ? n_ff / hp.moe.n_used : n_ff, hp);
  hp.moe.n_ff_shared = reader.count_or("expert_shared_feed_forward_length", n_ff, {1, 1 << 23});
}

void read_qwen3moe(const HyperReader& reader, HyperParams& hp) {
  read_qwen(reader, hp);
  hp.moe.n_ff = reader.count("expert_feed_forward_length", {1, 1 << 23});
}

TensorRef dense_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), attention_block(b, x, il));
  return add(b.g, x, b.gated_ffn(b.rms(x, w.ffn_norm), w, Activation::silu));
}

TensorRef qwen2moe_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), attention_block(b, x, il));
  const TensorRef h = b.rms(x, w.ffn_norm);
  const TensorRef routed = b.experts(h, w, /*norm_weights=*/false);
  const TensorRef gate = b.linear(w.ffn_gate_inp_shexp, h);
  return add(b.g, x, add(b.g, routed, sigmoid_mul(b.g, gate, b.shared_expert(h, w))));
}

TensorRef qwen3moe_layer(Build& b, TensorRef x, int32_t il) {
  const LayerWeights& w = b.layer(il);
  x = add(b.g, b.wanted(x, il), attention_block(b, x, il));
  return add(b.g, x, b.experts(b.rms(x, w.ffn_norm), w, /*norm_weights=*/true));
}

constexpr TensorDecl kOutputBias[] = {{&G::output_b, "output.bias", {Dim::vocab}, Need::optional}};
constexpr TensorDecl kSharedGate[] = {
    {&L::ffn_gate_inp_shexp, "ffn_gate_inp_shexp.weight", {Dim::embd}, Need::required, Where::moe}};

constexpr std::span<const TensorDecl> kQwen2Tensors[] = {kEmbedding, kOutputOrTied, kOutputBias, kPreNorms,
                                                         kAttention, kQkvBias,      kGatedFfn};
constexpr std::span<const TensorDecl> kQwen2MoeTensors[] = {kEmbedding, kOutput,  kPreNorms,     kAttention,
                                                            kQkvBias,   kExperts, kSharedExpert, kSharedGate};
constexpr std::span<const TensorDecl> kQwen3Tensors[] = {kEmbedding, kOutputOrTied, kPreNorms,
                                                         kAttention, kHeadNorms,    kGatedFfn};
constexpr std::span<const TensorDecl> kQwen3MoeTensors[] = {kEmbedding, kOutputOrTied, kPreNorms,
                                                            kAttention, kHeadNorms,    kExperts};

}  // namespace

extern const Architecture kQwen2{"qwen2", read_qwen, kQwen2Tensors, embed_tokens, dense_layer, rms_head};
extern const Architecture kQwen2Moe{"qwen2moe",   read_qwen2moe,  kQwen2MoeTensors,
                                    embed_tokens, qwen2moe_layer, rms_head};
extern const Architecture kQwen3{"qwen3", read_qwen, kQwen3Tensors, embed_tokens, dense_layer, rms_head};
extern const Architecture kQwen3Moe{"qwen3moe",   read_qwen3moe,  kQwen3MoeTensors,
                                    embed_tokens, qwen3moe_layer, rms_head};

}  // namespace brisk::model
