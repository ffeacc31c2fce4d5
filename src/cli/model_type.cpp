#include "cli/model_type.hpp"

#include "cli/file_type.hpp"

#include <fmt/format.h>

namespace brisk::cli {
namespace {

/// Models of an architecture with that many layers; the first row that fits names the size.
struct SizeRow {
  std::string_view architecture;
  int32_t n_layer;
  std::string_view name;
  int32_t n_embd = 0;    ///< 0 = any
  int32_t n_expert = 0;  ///< of models with experts
};

constexpr SizeRow kSizes[] = {
    {"llama", 32, "8x7B", 0, 8},
    {"llama", 56, "8x22B", 0, 8},
    {"llama", 16, "1B"},
    {"llama", 22, "1B"},
    {"llama", 26, "3B"},
    {"llama", 28, "3B"},
    {"llama", 30, "256M"},
    {"llama", 40, "13B"},
    {"llama", 48, "34B"},
    {"llama", 60, "30B"},
    {"gemma", 18, "2B"},
    {"gemma", 28, "7B"},
    {"gemma2", 26, "2B"},
    {"gemma2", 42, "9B"},
    {"gemma2", 46, "27B"},
    {"gemma3", 18, "270M"},
    {"gemma3", 26, "1B"},
    {"gemma3", 32, "8B"},
    {"gemma3", 34, "4B"},
    {"gemma3", 48, "12B"},
    {"gemma3", 62, "27B"},
    {"gpt2", 12, "0.1B"},
    {"gpt2", 24, "0.4B"},
    {"gpt2", 36, "0.8B"},
    {"gpt2", 48, "1.5B"},
    {"olmo2", 16, "1B"},
    {"olmo2", 32, "7B"},
    {"olmo2", 40, "13B"},
    {"olmo2", 64, "32B"},
    {"phi3", 24, "1.3B"},
    {"phi3", 32, "3B"},
    {"phi3", 40, "14B"},
    {"qwen2", 24, "0.5B", 1024},
    {"qwen2", 24, "1B"},
    {"qwen2", 28, "1.5B", 1536},
    {"qwen2", 28, "7B"},
    {"qwen2", 32, "7B"},
    {"qwen2", 36, "3B"},
    {"qwen2", 40, "13B"},
    {"qwen2", 48, "14B"},
    {"qwen2", 64, "32B"},
    {"qwen2", 80, "70B"},
    {"qwen2moe", 24, "A2.7B", 0, 60},
    {"qwen2moe", 28, "57B.A14B", 0, 64},
    {"qwen3", 28, "0.6B", 1024},
    {"qwen3", 28, "1.7B"},
    {"qwen3", 36, "4B", 2560},
    {"qwen3", 36, "8B"},
    {"qwen3", 40, "14B"},
    {"qwen3", 64, "32B"},
    {"qwen3moe", 48, "30B.A3B", 0, 128},
    {"qwen3moe", 94, "235B.A22B", 0, 128},
};

std::string_view size_name(const model::HyperParams& params) {
  // Two sizes of llama share their number of layers: the vocabulary and the key-value heads tell them apart.
  if (params.architecture == "llama" && params.moe.n_expert == 0) {
    if (params.n_layer() == 32) return params.n_vocab < 40000 ? "7B" : "8B";
    if (params.n_layer() == 80) return params.layer(0).n_head == params.layer(0).n_head_kv ? "65B" : "70B";
  }
  for (const SizeRow& row : kSizes) {
    if (row.architecture == params.architecture && row.n_layer == params.n_layer() &&
        row.n_expert == params.moe.n_expert && (row.n_embd == 0 || row.n_embd == params.n_embd)) {
      return row.name;
    }
  }
  return "?B";
}

}  // namespace

std::string model_type_name(const gguf::Model& file, const model::HyperParams& params) {
  return fmt::format("{} {} {}", params.architecture, size_name(params), file_type_name(file));
}

}  // namespace brisk::cli
