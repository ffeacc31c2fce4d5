#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/op_list.hpp"

namespace brisk::model {

inline constexpr int32_t kMaxLayers = 512;
inline constexpr int32_t kMaxExperts = 1024;

enum class RopeScaling : uint8_t { none, linear, yarn, longrope };

/// What the user wants instead of the file's rope settings. Zero or negative = the file's value.
struct RopeOverrides {
  float freq_base = 0.0f;
  float freq_scale = 0.0f;
  int32_t scaling = -1;  ///< a RopeScaling
  int32_t yarn_orig_ctx = 0;
  float yarn_ext_factor = -1.0f;
  float yarn_attn_factor = -1.0f;
  float yarn_beta_fast = -1.0f;
  float yarn_beta_slow = -1.0f;
  bool operator==(const RopeOverrides&) const = default;
};

/// What differs from layer to layer.
struct LayerParams {
  int32_t n_head = 0;
  int32_t n_head_kv = 0;
  int32_t n_ff = 0;
  bool windowed = false;  ///< sees the last `window` positions only
  bool rotated = true;    ///< Q and K get rotary embedding
  bool operator==(const LayerParams&) const = default;
};

struct MoeShape {
  int32_t n_expert = 0;
  int32_t n_used = 0;
  int32_t n_ff = 0;         ///< of one expert
  int32_t n_ff_shared = 0;  ///< of the expert that every token uses; 0 = none
  bool operator==(const MoeShape&) const = default;
};

/// The numbers of a model, read from its metadata and checked: every count is positive and bounded, every float finite.
struct HyperParams {
  std::string architecture;
  int32_t n_vocab = 0;
  int32_t n_ctx_train = 0;
  int32_t n_embd = 0;
  int32_t head_dim = 0;    ///< of Q and K
  int32_t head_dim_v = 0;  ///< of V
  float norm_epsilon = 0.0f;
  std::vector<LayerParams> layers;
  MoeShape moe;

  RopeLayout rope_layout = RopeLayout::norm;
  RopeTableParams rope{};           ///< full layers; YaRN's magnitude is already in attn_factor
  RopeTableParams rope_windowed{};  ///< windowed layers
  int32_t n_ctx_orig = 0;           ///< longer configured contexts take the long factors of longrope

  int32_t window = 0;               ///< of windowed layers; 0 = there are none
  float attention_scale = 0.0f;     ///< multiplies q . k
  float attention_soft_cap = 0.0f;  ///< 0 = none
  float logit_soft_cap = 0.0f;      ///< 0 = none
  float embedding_scale = 1.0f;
  bool learned_positions = false;  ///< a table of n_ctx_train positions: none beyond it, none can be shifted

  [[nodiscard]] int32_t n_layer() const { return static_cast<int32_t>(layers.size()); }
  [[nodiscard]] const LayerParams& layer(int32_t index) const { return layers[static_cast<size_t>(index)]; }
  /// Attention of one layer as the ops take it.
  [[nodiscard]] AttentionParams attention(int32_t index) const;
};

}  // namespace brisk::model
