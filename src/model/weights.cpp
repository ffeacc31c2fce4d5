#include "model/weights.hpp"

#include "base/error.hpp"

namespace brisk::model {

int64_t length_of(Dim dim, const HyperParams& hp, const LayerParams& layer) {
  const int64_t q = int64_t{layer.n_head} * hp.head_dim;
  const int64_t k = int64_t{layer.n_head_kv} * hp.head_dim;
  const int64_t v = int64_t{layer.n_head_kv} * hp.head_dim_v;
  switch (dim) {
    case Dim::one:
      return 1;
    case Dim::embd:
      return hp.n_embd;
    case Dim::vocab:
      return hp.n_vocab;
    case Dim::context:
      return hp.n_ctx_train;
    case Dim::q:
      return q;
    case Dim::k:
      return k;
    case Dim::v:
      return v;
    case Dim::qkv:
      return q + k + v;
    case Dim::heads:
      return int64_t{layer.n_head} * hp.head_dim_v;
    case Dim::head_dim:
      return hp.head_dim;
    case Dim::ff:
      return layer.n_ff;
    case Dim::two_ff:
      return int64_t{2} * layer.n_ff;
    case Dim::rotated_pairs:
      return hp.rope.n_rot / 2;
    case Dim::experts:
      return hp.moe.n_expert;
    case Dim::expert_ff:
      return hp.moe.n_ff;
    case Dim::shared_ff:
      return hp.moe.n_ff_shared;
  }
  BRISK_CHECK(false, "all dimensions are handled above");
  return 0;
}

}  // namespace brisk::model
