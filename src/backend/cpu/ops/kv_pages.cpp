#include "cpu/ops/kv_pages.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "cpu/ops/tasks.hpp"

namespace brisk::cpu {

KvPages::KvPages(const TaskContext& context, const Inputs& inputs, const AttentionParams& params)
    : params_(params),
      type_(context.tensor(inputs.k_pages).dtype == DType::f32 ? KvType::f32 : KvType::f16),
      element_bytes_(type_ == KvType::f32 ? 4 : 2),
      k_(context.address(inputs.k_pages)),
      v_(context.address(inputs.v_pages)),
      positions_(context.ids(inputs.positions)),
      sequences_(context.ids(inputs.sequences)),
      page_table_(context.ids(inputs.page_table)),
      n_tokens_(context.graph().shape(inputs.positions)[0]),
      n_pages_(context.graph().shape(inputs.k_pages)[1]),
      max_pages_(context.graph().shape(inputs.page_table)[0]),
      n_sequences_(context.graph().shape(inputs.page_table).rows()) {}

int32_t KvPages::page_at(int32_t sequence, int64_t index) const {
  BRISK_CHECK(sequence >= 0 && sequence < n_sequences_, "a token's sequence is a row of the page table");
  if (index < 0 || index >= max_pages_) return -1;
  const int32_t page = page_table_[sequence * max_pages_ + index];
  BRISK_CHECK(page >= -1 && page < n_pages_, "the page table names pages that exist");
  return page;
}

int32_t KvPages::page_of(int32_t sequence, int64_t position) const {
  return position < 0 ? -1 : page_at(sequence, position / kPagePositions);
}

std::byte* KvPages::k(int32_t page, int head) const {
  const int64_t index = int64_t{page} * params_.n_head_kv + head;
  return k_ + static_cast<uint64_t>(index * params_.head_dim * kPagePositions) * element_bytes_;
}

std::byte* KvPages::v(int32_t page, int head) const {
  const int64_t index = int64_t{page} * params_.n_head_kv + head;
  return v_ + static_cast<uint64_t>(index * params_.head_dim_v * kPagePositions) * element_bytes_;
}

bool kv_inputs_fit(const Graph& graph, const KvPages::Inputs& inputs) {
  const DType type = graph.tensor(inputs.k_pages).dtype;
  const bool stored = graph.tensor(inputs.positions).buffer && graph.tensor(inputs.sequences).buffer &&
                      graph.tensor(inputs.page_table).buffer;
  return stored && (type == DType::f32 || type == DType::f16) && graph.tensor(inputs.v_pages).dtype == type;
}

namespace {

/// Tokens handled together: neighbours write to the same lines of a K page.
constexpr int64_t kStoreTokens = 64;

KvPages::Inputs inputs_from(const Node& node, size_t first) {
  return {node.inputs[first], node.inputs[first + 1], node.inputs[first + 2], node.inputs[first + 3],
          node.inputs[first + 4]};
}

template <class T>
void scatter(const T* from, int32_t n, T* to) {
  for (int32_t d = 0; d < n; ++d) to[d * kPagePositions] = from[d];
}

template <class T>
void gather(const T* from, int32_t n, T* to) {
  for (int32_t d = 0; d < n; ++d) to[d] = from[d * kPagePositions];
}

class StoreKvTask : public OpTask {
 public:
  StoreKvTask(const TaskContext& context, const Node& node)
      : kernels_(context.kernels()),
        k_(context.rows(node.inputs[0])),
        v_(context.rows(node.inputs[1])),
        pages_(context, inputs_from(node, 2), std::get<AttentionParams>(node.params)) {}

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(pages_.n_tokens(), kStoreTokens); }
  [[nodiscard]] uint64_t local_bytes() const override { return static_cast<uint64_t>(pages_.params().head_dim) * 2; }

  void run(int, int64_t chunk, const Scratch& scratch) override {
    const Span tokens = chunk_span(chunk, kStoreTokens, pages_.n_tokens());
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      const int32_t page = pages_.page_of(pages_.sequence(t), pages_.position(t));
      BRISK_CHECK(page >= 0, "a token that is stored has a page");
      for (int head = 0; head < pages_.params().n_head_kv; ++head) store(t, page, head, scratch);
    }
  }

 private:
  void store(int64_t token, int32_t page, int head, const Scratch& scratch) const {
    const AttentionParams& p = pages_.params();
    const int64_t slot = pages_.position(token) % kPagePositions;
    const float* k = k_.row(token) + int64_t{head} * p.head_dim;
    const float* v = v_.row(token) + int64_t{head} * p.head_dim_v;
    if (pages_.type() == KvType::f32) {
      scatter(k, p.head_dim, reinterpret_cast<float*>(pages_.k(page, head)) + slot);
      std::memcpy(reinterpret_cast<float*>(pages_.v(page, head)) + slot * p.head_dim_v, v,
                  static_cast<size_t>(p.head_dim_v) * 4);
      return;
    }
    auto* row = reinterpret_cast<uint16_t*>(scratch.local);
    kernels_.to_f16(k, row, p.head_dim);
    scatter(row, p.head_dim, reinterpret_cast<uint16_t*>(pages_.k(page, head)) + slot);
    kernels_.to_f16(v, reinterpret_cast<uint16_t*>(pages_.v(page, head)) + slot * p.head_dim_v, p.head_dim_v);
  }

  const OpKernels& kernels_;
  Rows k_, v_;
  KvPages pages_;
};

class LoadKvTask : public OpTask {
 public:
  LoadKvTask(const TaskContext& context, const Node& node)
      : kernels_(context.kernels()),
        out_(context.rows(node.output)),
        pages_(context, inputs_from(node, 0), std::get<AttentionParams>(node.params)) {}

  [[nodiscard]] int64_t chunks(int) const override { return divide_up(pages_.n_tokens(), kStoreTokens); }
  [[nodiscard]] uint64_t local_bytes() const override { return static_cast<uint64_t>(pages_.params().head_dim) * 2; }

  void run(int, int64_t chunk, const Scratch& scratch) override {
    const Span tokens = chunk_span(chunk, kStoreTokens, pages_.n_tokens());
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      const int32_t page = pages_.page_of(pages_.sequence(t), pages_.position(t));
      if (page < 0) {
        std::fill_n(out_.row(t), out_.n, 0.0f);
        continue;
      }
      for (int head = 0; head < pages_.params().n_head_kv; ++head) load(t, page, head, scratch);
    }
  }

 private:
  void load(int64_t token, int32_t page, int head, const Scratch& scratch) const {
    const AttentionParams& p = pages_.params();
    const int64_t slot = pages_.position(token) % kPagePositions;
    float* k = out_.row(token) + int64_t{head} * p.head_dim;
    float* v = out_.row(token) + int64_t{p.n_head_kv} * p.head_dim + int64_t{head} * p.head_dim_v;
    if (pages_.type() == KvType::f32) {
      gather(reinterpret_cast<const float*>(pages_.k(page, head)) + slot, p.head_dim, k);
      std::memcpy(v, reinterpret_cast<const float*>(pages_.v(page, head)) + slot * p.head_dim_v,
                  static_cast<size_t>(p.head_dim_v) * 4);
      return;
    }
    auto* row = reinterpret_cast<uint16_t*>(scratch.local);
    gather(reinterpret_cast<const uint16_t*>(pages_.k(page, head)) + slot, p.head_dim, row);
    kernels_.from_f16(row, k, p.head_dim);
    kernels_.from_f16(reinterpret_cast<const uint16_t*>(pages_.v(page, head)) + slot * p.head_dim_v, v, p.head_dim_v);
  }

  const OpKernels& kernels_;
  Rows out_;
  KvPages pages_;
};

}  // namespace

bool accepts_store_kv(const Graph& graph, const Node& node) { return kv_inputs_fit(graph, inputs_from(node, 2)); }
bool accepts_load_kv(const Graph& graph, const Node& node) { return kv_inputs_fit(graph, inputs_from(node, 0)); }

std::unique_ptr<OpTask> make_store_kv(const TaskContext& context, const Node& node) {
  return std::make_unique<StoreKvTask>(context, node);
}

std::unique_ptr<OpTask> make_load_kv(const TaskContext& context, const Node& node) {
  return std::make_unique<LoadKvTask>(context, node);
}

}  // namespace brisk::cpu
