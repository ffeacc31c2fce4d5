#pragma once

#include "model/arch/arch.hpp"

// What several architectures have in common: groups of tensors, and steps around the layers.
namespace brisk::model {

using G = GlobalWeights;
using L = LayerWeights;

inline constexpr TensorDecl kEmbedding[] = {
    {&G::token_embd, "token_embd.weight", {Dim::embd, Dim::vocab}},
    {&G::output_norm, "output_norm.weight", {Dim::embd}},
};
/// Models that may leave it out are tied to token_embd.
inline constexpr TensorDecl kOutputOrTied[] = {
    {&G::output, "output.weight", {Dim::embd, Dim::vocab}, Need::optional},
};
inline constexpr TensorDecl kOutput[] = {
    {&G::output, "output.weight", {Dim::embd, Dim::vocab}},
};
inline constexpr TensorDecl kRopeFactors[] = {
    {&G::rope_freqs, "rope_freqs.weight", {Dim::rotated_pairs}, Need::optional},
    {&G::rope_long, "rope_factors_long.weight", {Dim::rotated_pairs}, Need::optional},
    {&G::rope_short, "rope_factors_short.weight", {Dim::rotated_pairs}, Need::optional},
};
inline constexpr TensorDecl kPreNorms[] = {
    {&L::attn_norm, "attn_norm.weight", {Dim::embd}},
    {&L::ffn_norm, "ffn_norm.weight", {Dim::embd}},
};
inline constexpr TensorDecl kPostNorms[] = {
    {&L::attn_post_norm, "post_attention_norm.weight", {Dim::embd}},
    {&L::ffn_post_norm, "post_ffw_norm.weight", {Dim::embd}},
};
inline constexpr TensorDecl kAttention[] = {
    {&L::attn_qkv, "attn_qkv.weight", {Dim::embd, Dim::qkv}, Need::optional},
    {&L::attn_q, "attn_q.weight", {Dim::embd, Dim::q}, Need::unless_fused},
    {&L::attn_k, "attn_k.weight", {Dim::embd, Dim::k}, Need::unless_fused},
    {&L::attn_v, "attn_v.weight", {Dim::embd, Dim::v}, Need::unless_fused},
    {&L::attn_output, "attn_output.weight", {Dim::heads, Dim::embd}},
};
inline constexpr TensorDecl kQkvBias[] = {
    {&L::attn_qkv_b, "attn_qkv.bias", {Dim::qkv}, Need::optional},
    {&L::attn_q_b, "attn_q.bias", {Dim::q}, Need::unless_fused},
    {&L::attn_k_b, "attn_k.bias", {Dim::k}, Need::unless_fused},
    {&L::attn_v_b, "attn_v.bias", {Dim::v}, Need::unless_fused},
};
inline constexpr TensorDecl kOptionalBiases[] = {
    {&L::attn_qkv_b, "attn_qkv.bias", {Dim::qkv}, Need::optional},
    {&L::attn_q_b, "attn_q.bias", {Dim::q}, Need::optional},
    {&L::attn_k_b, "attn_k.bias", {Dim::k}, Need::optional},
    {&L::attn_v_b, "attn_v.bias", {Dim::v}, Need::optional},
    {&L::attn_output_b, "attn_output.bias", {Dim::embd}, Need::optional},
    {&L::ffn_gate_b, "ffn_gate.bias", {Dim::ff}, Need::optional},
    {&L::ffn_up_b, "ffn_up.bias", {Dim::ff}, Need::optional},
    {&L::ffn_down_b, "ffn_down.bias", {Dim::embd}, Need::optional},
};
/// Of each head.
inline constexpr TensorDecl kHeadNorms[] = {
    {&L::attn_q_norm, "attn_q_norm.weight", {Dim::head_dim}},
    {&L::attn_k_norm, "attn_k_norm.weight", {Dim::head_dim}},
};
inline constexpr TensorDecl kGatedFfn[] = {
    {&L::ffn_gate, "ffn_gate.weight", {Dim::embd, Dim::ff}, Need::required, Where::dense},
    {&L::ffn_up, "ffn_up.weight", {Dim::embd, Dim::ff}, Need::required, Where::dense},
    {&L::ffn_down, "ffn_down.weight", {Dim::ff, Dim::embd}, Need::required, Where::dense},
};
inline constexpr TensorDecl kExperts[] = {
    {&L::ffn_gate_inp, "ffn_gate_inp.weight", {Dim::embd, Dim::experts}, Need::required, Where::moe},
    {&L::ffn_gate_exps, "ffn_gate_exps.weight", {Dim::embd, Dim::expert_ff, Dim::experts}, Need::required, Where::moe},
    {&L::ffn_up_exps, "ffn_up_exps.weight", {Dim::embd, Dim::expert_ff, Dim::experts}, Need::required, Where::moe},
    {&L::ffn_down_exps, "ffn_down_exps.weight", {Dim::expert_ff, Dim::embd, Dim::experts}, Need::required, Where::moe},
};
inline constexpr TensorDecl kSharedExpert[] = {
    {&L::ffn_gate_shexp, "ffn_gate_shexp.weight", {Dim::embd, Dim::shared_ff}, Need::required, Where::shared_expert},
    {&L::ffn_up_shexp, "ffn_up_shexp.weight", {Dim::embd, Dim::shared_ff}, Need::required, Where::shared_expert},
    {&L::ffn_down_shexp, "ffn_down_shexp.weight", {Dim::shared_ff, Dim::embd}, Need::required, Where::shared_expert},
};

/// Rows of token_embd.
TensorRef embed_tokens(Build& b);
/// RMS norm, then the output matrix.
TensorRef rms_head(Build& b, TensorRef x);
/// Attention with RMS norm before it, biases and head norms where the model has them; without the residual.
TensorRef attention_block(Build& b, TensorRef x, int32_t il);
/// Reads attention.layer_norm_rms_epsilon.
void read_rms(const HyperReader& reader, HyperParams& hp);
/// The only width of an expert: expert_feed_forward_length, or `fallback` where the file has none.
void read_expert_width(const HyperReader& reader, int32_t fallback, HyperParams& hp);

}  // namespace brisk::model
