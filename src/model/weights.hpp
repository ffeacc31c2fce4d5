#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "model/hyper_params.hpp"
#include "tensor/graph.hpp"

namespace brisk::model {

/// A tensor of the model; nullptr = the model does not have it.
using Weight = const TensorStorage*;

/// Tensors outside the layers. `output` is `token_embd` in models with tied embeddings.
struct GlobalWeights {
  Weight token_embd = nullptr;
  Weight position_embd = nullptr;
  Weight output_norm = nullptr, output_norm_b = nullptr;
  Weight output = nullptr, output_b = nullptr;
  Weight rope_freqs = nullptr, rope_long = nullptr, rope_short = nullptr;
};

/// Tensors of a layer, named as in the file; _b = bias.
struct LayerWeights {
  Weight attn_norm = nullptr, attn_norm_b = nullptr;
  Weight attn_qkv = nullptr, attn_qkv_b = nullptr;
  Weight attn_q = nullptr, attn_q_b = nullptr;
  Weight attn_k = nullptr, attn_k_b = nullptr;
  Weight attn_v = nullptr, attn_v_b = nullptr;
  Weight attn_q_norm = nullptr, attn_k_norm = nullptr;
  Weight attn_output = nullptr, attn_output_b = nullptr;
  Weight attn_post_norm = nullptr;
  Weight ffn_norm = nullptr, ffn_norm_b = nullptr;
  Weight ffn_gate = nullptr, ffn_gate_b = nullptr;
  Weight ffn_up = nullptr, ffn_up_b = nullptr;
  Weight ffn_down = nullptr, ffn_down_b = nullptr;
  Weight ffn_post_norm = nullptr;
  Weight ffn_gate_inp = nullptr;
  Weight ffn_gate_exps = nullptr, ffn_up_exps = nullptr, ffn_down_exps = nullptr;
  Weight ffn_gate_inp_shexp = nullptr;
  Weight ffn_gate_shexp = nullptr, ffn_up_shexp = nullptr, ffn_down_shexp = nullptr;
};

/// A length that follows from the hyper-parameters (of the layer).
enum class Dim : uint8_t {
  one,
  embd,           // n_embd
  vocab,          // n_vocab
  context,        // n_ctx_train
  q,              // n_head * head_dim
  k,              // n_head_kv * head_dim
  v,              // n_head_kv * head_dim_v
  qkv,            // q + k + v
  heads,          // n_head * head_dim_v
  head_dim,       // head_dim
  ff,             // n_ff
  two_ff,         // 2 * n_ff
  rotated_pairs,  // n_rot / 2
  experts,        // n_expert
  expert_ff,      // n_ff of an expert
  shared_ff,      // n_ff of the shared expert
};

enum class Need : uint8_t {
  required,
  optional,
  unless_fused,  ///< required unless the layer has attn_qkv
};

/// Which models or layers have the tensor at all.
enum class Where : uint8_t { any, dense, moe, shared_expert };

/// One tensor that an architecture has. `name` is the file's name, without "blk.N." for a tensor of a layer.
struct TensorDecl {
  std::variant<Weight GlobalWeights::*, Weight LayerWeights::*> field;
  std::string_view name;
  std::array<Dim, 3> shape{Dim::one, Dim::one, Dim::one};
  Need need = Need::required;
  Where where = Where::any;
};

[[nodiscard]] int64_t length_of(Dim dim, const HyperParams& hp, const LayerParams& layer);

}  // namespace brisk::model
