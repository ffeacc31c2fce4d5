#pragma once

#include "cpu/ops/op_task.hpp"
#include "tensor/ops.hpp"

namespace brisk::cpu {

/// The KV pages of a layer as ops see them. A page holds all KV heads, one behind the other: K transposed [head_dim][64
/// positions], so that one key is one lane of a kernel, V as rows [64 positions][head_dim_v].
class KvPages {
 public:
  struct Inputs {
    TensorRef k_pages, v_pages, positions, sequences, page_table;
  };
  KvPages(const TaskContext& context, const Inputs& inputs, const AttentionParams& params);

  /// Page that holds the position, or -1. Throws Error (internal) for a sequence or position outside the table.
  [[nodiscard]] int32_t page_of(int32_t sequence, int64_t position) const;
  /// As page_of, for whole pages: -1 beyond the table.
  [[nodiscard]] int32_t page_at(int32_t sequence, int64_t index) const;
  [[nodiscard]] std::byte* k(int32_t page, int head) const;
  [[nodiscard]] std::byte* v(int32_t page, int head) const;
  [[nodiscard]] int32_t position(int64_t token) const { return positions_[token]; }
  [[nodiscard]] int32_t sequence(int64_t token) const { return sequences_[token]; }
  [[nodiscard]] KvType type() const { return type_; }
  [[nodiscard]] int64_t n_tokens() const { return n_tokens_; }
  [[nodiscard]] const AttentionParams& params() const { return params_; }

 private:
  AttentionParams params_;
  KvType type_;
  uint64_t element_bytes_;
  std::byte* k_;
  std::byte* v_;
  const int32_t* positions_;
  const int32_t* sequences_;
  const int32_t* page_table_;
  int64_t n_tokens_;
  int64_t n_pages_;    ///< that exist
  int64_t max_pages_;  ///< of a sequence
  int64_t n_sequences_;
};

/// Types that pages may have; both stores have the same, and all positions come from stored inputs.
[[nodiscard]] bool kv_inputs_fit(const Graph& graph, const KvPages::Inputs& inputs);

}  // namespace brisk::cpu
