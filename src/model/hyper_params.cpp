#include "model/hyper_params.hpp"

namespace brisk::model {

AttentionParams HyperParams::attention(int32_t index) const {
  const LayerParams& l = layer(index);
  AttentionParams params{};
  params.n_head = l.n_head;
  params.n_head_kv = l.n_head_kv;
  params.head_dim = head_dim;
  params.head_dim_v = head_dim_v;
  params.scale = attention_scale;
  params.soft_cap = attention_soft_cap;
  params.window = l.windowed ? window : 0;
  return params;
}

}  // namespace brisk::model
