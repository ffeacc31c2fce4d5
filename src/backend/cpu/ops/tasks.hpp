#pragma once

#include "cpu/ops/op_task.hpp"

// Makers and type checks of the rows in op_table.cpp.

namespace brisk::cpu {

#define BRISK_TASK_MAKER(op) std::unique_ptr<OpTask> make_##op(const TaskContext& context, const Node& node);
BRISK_TASK_MAKER(embed_rows)
BRISK_TASK_MAKER(select_rows)
BRISK_TASK_MAKER(matmul)
BRISK_TASK_MAKER(add)
BRISK_TASK_MAKER(mul)
BRISK_TASK_MAKER(scale)
BRISK_TASK_MAKER(soft_cap)
BRISK_TASK_MAKER(rms_norm)
BRISK_TASK_MAKER(layer_norm)
BRISK_TASK_MAKER(rope_table)
BRISK_TASK_MAKER(rope)
BRISK_TASK_MAKER(store_kv)
BRISK_TASK_MAKER(load_kv)
BRISK_TASK_MAKER(attention)
BRISK_TASK_MAKER(gated)
BRISK_TASK_MAKER(activate)
BRISK_TASK_MAKER(sigmoid_mul)
BRISK_TASK_MAKER(moe_ffn)
#undef BRISK_TASK_MAKER

bool accepts_embed_rows(const Graph& graph, const Node& node);
bool accepts_matmul(const Graph& graph, const Node& node);
bool accepts_moe(const Graph& graph, const Node& node);
bool accepts_store_kv(const Graph& graph, const Node& node);
bool accepts_load_kv(const Graph& graph, const Node& node);
bool accepts_attention(const Graph& graph, const Node& node);

}  // namespace brisk::cpu
