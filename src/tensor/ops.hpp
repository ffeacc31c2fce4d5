#pragma once

#include <span>

#include "tensor/graph.hpp"

// Builders of the ops: each checks its operands and appends one node. `m` is the number of tokens (rows) of a batch. A
// wrong shape or type throws Error (invalid_argument) that names op and operands.
namespace brisk {

/// Rows of `table` [n, n_vocab] at `ids` i32 [m]: f32 [n, m].
TensorRef embed_rows(Graph& g, TensorRef table, TensorRef ids);
/// Rows of x [n, m] at `rows` i32 [k]: [n, k].
TensorRef select_rows(Graph& g, TensorRef x, TensorRef rows);

/// Products of the weights [n_in, n_out_i] with x [n_in, m], one below the other: [sum n_out_i, m]. Several weights in
/// one node share one rounding of x and one barrier. `biases` is empty or has a tensor f32 [n_out_i] or an invalid ref
/// for each. Inputs of the node: x, weights, then (when there are biases) one bias a weight, an invalid ref where there
/// is none.
TensorRef matmul(Graph& g, std::span<const TensorRef> weights, TensorRef x, std::span<const TensorRef> biases = {});
TensorRef matmul(Graph& g, TensorRef weight, TensorRef x, TensorRef bias = {});

/// x + y; y has x's shape, or is one row [n] added to every row.
TensorRef add(Graph& g, TensorRef x, TensorRef y);
/// x * y elementwise; y has x's shape, or is one row [n].
TensorRef mul(Graph& g, TensorRef x, TensorRef y);
TensorRef scale(Graph& g, TensorRef x, float factor);
TensorRef soft_cap(Graph& g, TensorRef x, float cap);

/// x / sqrt(mean(x^2) + eps) * weight over the last `weight` length: a weight [n] with x [n, m], or a per-head weight
/// [d] with x [n_head * d, m] (each run of d values is a row of its own).
TensorRef rms_norm(Graph& g, TensorRef x, TensorRef weight, float epsilon);
/// (x - mean) / sqrt(var + eps) * weight + bias; bias may be invalid.
TensorRef layer_norm(Graph& g, TensorRef x, TensorRef weight, TensorRef bias, float epsilon);

/// cos and sin of every angle: [n_rot, m], pair i at (2i, 2i + 1), times attn_factor. `factors` f32 [n_rot / 2] or
/// invalid.
TensorRef rope_table(Graph& g, TensorRef positions, TensorRef factors, const RopeTableParams& params);
/// Rotates the first n_rot values of each head of x [n_head * head_dim, m] (row i by column i of the table).
TensorRef rope(Graph& g, TensorRef x, TensorRef table, int64_t head_dim, RopeLayout layout);

/// The KV side of one layer: stores, and where each token of the batch belongs.
struct KvInputs {
  TensorRef k_pages;     ///< stored, KV type, [page_positions * n_head_kv * head_dim, n_pages]
  TensorRef v_pages;     ///< stored, KV type, [page_positions * n_head_kv * head_dim_v, n_pages]
  TensorRef positions;   ///< i32 [m]
  TensorRef sequences;   ///< i32 [m]: row of page_table
  TensorRef page_table;  ///< i32 [max_pages, n_sequences]: page of positions 64 j .. 64 j + 63, -1 = none
};

/// Positions to a page, and the unit of attention's arithmetic (docs/architecture.md, "Numbers").
inline constexpr int64_t kPagePositions = 64;

/// Writes k [n_head_kv * head_dim, m] and v [n_head_kv * head_dim_v, m] to their pages.
/// Inputs of the node: k, v, k_pages, v_pages, positions, sequences, page_table.
void store_kv(Graph& g, TensorRef k, TensorRef v, const KvInputs& kv, const AttentionParams& params);
/// Reads stored rows back, to move or rotate them: [n_head_kv * head_dim + n_head_kv * head_dim_v, m], the K row then
/// the V row of each (position, sequence). A position without a page gives zeros. Inputs of the node: k_pages, v_pages,
/// positions, sequences, page_table.
TensorRef load_kv(Graph& g, const KvInputs& kv, const AttentionParams& params);
/// Causal attention of q [n_head * head_dim, m] over the pages of each token's sequence, positions 0 .. own:
/// [n_head * head_dim_v, m]. Tokens of one sequence stand together in ascending positions. A position without a page is
/// hidden. Inputs of the node: q, k_pages, v_pages, positions, sequences, page_table.
TensorRef attention(Graph& g, TensorRef q, const KvInputs& kv, const AttentionParams& params);

/// act(gate) * up.
TensorRef gated(Graph& g, TensorRef gate, TensorRef up, Activation act);
TensorRef activate(Graph& g, TensorRef x, Activation act);
/// sigmoid(gate [1, m]) * x [n, m], row by row.
TensorRef sigmoid_mul(Graph& g, TensorRef gate, TensorRef x);

/// The matrices of all experts: gate, up [n, n_ff, n_expert]; down [n_ff, n, n_expert].
struct ExpertWeights {
  TensorRef gate;
  TensorRef up;
  TensorRef down;
};

/// Mixture of experts over x [n, m] with router logits [n_expert, m]: sum over the chosen experts, in the order of
/// falling weight (lower id first among equals), of w_i * down_i(act(gate_i x) * up_i x). Inputs of the node: x,
/// logits, gate, up, down.
TensorRef moe_ffn(Graph& g, TensorRef x, TensorRef logits, const ExpertWeights& experts, const MoeParams& params);

}  // namespace brisk
