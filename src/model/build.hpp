#pragma once

#include <cstdint>
#include <vector>

#include "model/kv_cache.hpp"
#include "model/model.hpp"
#include "tensor/ops.hpp"
#include "tensor/plan.hpp"

namespace brisk::model {

/// What a graph reads besides weights: stored i32 tensors, one element a token but for output_rows.
struct GraphInputs {
  TensorStorage tokens;
  TensorStorage positions;  ///< what rotary and learned embeddings see
  TensorStorage slots;      ///< where in its sequence the token is
  TensorStorage sequences;
  TensorStorage output_rows;  ///< tokens of the batch whose logits are wanted, ascending
};

struct Qkv {
  TensorRef q, k, v;
};

/// The steps that architectures are written in; each appends to one graph. Lives while a graph is built.
class Build {
 public:
  Build(const Model& model, const KvCache& kv, const GraphInputs& inputs);

  Graph g;

  [[nodiscard]] const HyperParams& hp() const { return model_.params(); }
  [[nodiscard]] const GlobalWeights& globals() const { return model_.globals(); }
  [[nodiscard]] const LayerWeights& layer(int32_t il) const { return model_.layer(il); }

  /// The weight as a tensor of the graph; an invalid ref for nullptr.
  TensorRef use(Weight weight);
  /// Rows of token_embd, times the embedding scale.
  TensorRef embed_tokens();
  /// Rows of position_embd.
  TensorRef embed_positions();
  TensorRef rms(TensorRef x, Weight weight);
  TensorRef norm(TensorRef x, Weight weight, Weight bias);
  TensorRef linear(Weight weight, TensorRef x, Weight bias = nullptr);
  /// Queries, keys and values in one product, from attn_qkv or from attn_q, attn_k, attn_v.
  Qkv qkv(TensorRef x, int32_t il);
  /// Rotary embedding of q or k, where the layer has it.
  TensorRef rotate(TensorRef x, int32_t il);
  /// Stores k and v, and attends.
  TensorRef attention(const Qkv& qkv, int32_t il);
  /// In the last layer the rows whose logits are wanted, before it all rows.
  TensorRef wanted(TensorRef x, int32_t il);
  /// down(act(gate x) * up x).
  TensorRef gated_ffn(TensorRef x, const LayerWeights& w, Activation act);
  /// The experts that the router chooses, without the shared one.
  TensorRef experts(TensorRef x, const LayerWeights& w, bool norm_weights);
  /// down(silu(gate x) * up x) of the shared expert.
  TensorRef shared_expert(TensorRef x, const LayerWeights& w);
  /// Products with the output matrix, soft cap included.
  TensorRef logits(TensorRef x);

 private:
  TensorRef rope_angles(bool windowed);

  const Model& model_;
  const KvCache& kv_;
  const GraphInputs& inputs_;
  TensorRef positions_, slots_, sequences_, output_rows_;
  TensorRef angles_[2];  // of full and of windowed layers
  std::vector<TensorRef> page_tables_;
};

/// Factors that divide the angles, or nullptr: rope_freqs, else the long or short ones by the configured context.
[[nodiscard]] Weight rope_factors(const Model& model, int32_t n_ctx);

/// The whole graph; its only output is the logits [n_vocab, n_outputs]. With wants_logits false the output is left out
/// and with it everything that only it needs.
struct BuiltGraph {
  Graph graph;
  TensorRef logits;
};
[[nodiscard]] BuiltGraph build_graph(const Model& model, const KvCache& kv, const GraphInputs& inputs,
                                     bool wants_logits);

}  // namespace brisk::model
