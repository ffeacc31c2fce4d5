#include <algorithm>

#include "cpu/ops/tasks.hpp"

#include "base/error.hpp"
#include "cpu/cpu_buffer.hpp"

namespace brisk::cpu {

namespace {

constexpr OpRow kRows[] = {
    {Op::embed_rows, make_embed_rows, accepts_embed_rows},
    {Op::select_rows, make_select_rows, nullptr},
    {Op::matmul, make_matmul, accepts_matmul},
    {Op::add, make_add, nullptr},
    {Op::mul, make_mul, nullptr},
    {Op::scale, make_scale, nullptr},
    {Op::soft_cap, make_soft_cap, nullptr},
    {Op::rms_norm, make_rms_norm, nullptr},
    {Op::layer_norm, make_layer_norm, nullptr},
    {Op::rope_table, make_rope_table, nullptr},
    {Op::rope, make_rope, nullptr},
    {Op::store_kv, make_store_kv, accepts_store_kv},
    {Op::load_kv, make_load_kv, accepts_load_kv},
    {Op::attention, make_attention, accepts_attention},
    {Op::gated, make_gated, nullptr},
    {Op::activate, make_activate, nullptr},
    {Op::sigmoid_mul, make_sigmoid_mul, nullptr},
    {Op::moe_ffn, make_moe_ffn, accepts_moe},
};

}  // namespace

const OpRow* find_op(Op op) noexcept {
  const auto* row = std::ranges::find(kRows, op, &OpRow::op);
  return row == std::end(kRows) ? nullptr : row;
}

std::byte* TaskContext::address(TensorRef ref) const {
  const Tensor& t = tensor(ref);
  const bool view = t.view_of >= 0;
  const size_t index = static_cast<size_t>(view ? t.view_of : ref.index);
  const Tensor& base = plan_.graph.tensors()[index];
  const uint64_t inner = view ? t.offset : 0;
  if (!base.buffer) return arena_ + plan_.offsets[index] + inner;
  const auto* buffer = dynamic_cast<const CpuBuffer*>(base.buffer);
  BRISK_CHECK(buffer && buffer->layout() == CpuBuffer::Layout::plain,
              "an operand lies in plain memory of the CPU device");
  return buffer->data() + base.offset + inner;
}

Rows TaskContext::rows(TensorRef ref) const {
  const Tensor& t = tensor(ref);
  BRISK_CHECK(t.dtype == DType::f32, "an operand is f32");
  return {reinterpret_cast<float*>(address(ref)), t.shape[0], t.shape.rows(),
          static_cast<int64_t>(t.row_stride / sizeof(float))};
}

}  // namespace brisk::cpu
