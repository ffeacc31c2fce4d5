#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace brisk {

// Parameters of the ops. An op without parameters has NoParams.

struct NoParams {
  bool operator==(const NoParams&) const = default;
};

struct NormParams {
  float epsilon;
  bool operator==(const NormParams&) const = default;
};

struct ScaleParams {
  float factor;
  bool operator==(const ScaleParams&) const = default;
};

/// y = cap * tanh(x / cap).
struct SoftCapParams {
  float cap;
  bool operator==(const SoftCapParams&) const = default;
};

/// Pairs that a rotation acts on: norm = (2i, 2i + 1), neox = (i, i + n_rot / 2).
enum class RopeLayout : uint8_t { norm, neox };

/// Angles of rotary embedding, YaRN included (reference: Su 2021, arXiv 2104.09864; Peng 2023, arXiv 2309.00071).
struct RopeTableParams {
  int32_t n_rot;             ///< rotated values of a head, even
  float freq_base;           ///< theta_i = position * freq_scale * freq_base^(-2i / n_rot) / factor_i
  float freq_scale = 1.0f;   ///< 1 / linear factor
  float ext_factor = 0.0f;   ///< YaRN mix, 0 = off
  float attn_factor = 1.0f;  ///< multiplies cos and sin
  float beta_fast = 32.0f;
  float beta_slow = 1.0f;
  int32_t n_ctx_orig = 0;
  bool operator==(const RopeTableParams&) const = default;
};

struct RopeParams {
  int32_t n_rot;
  RopeLayout layout;
  bool operator==(const RopeParams&) const = default;
};

struct AttentionParams {
  int32_t n_head;
  int32_t n_head_kv;
  int32_t head_dim;    ///< of K and Q
  int32_t head_dim_v;  ///< of V and the result
  float scale;
  float soft_cap = 0.0f;        ///< 0 = none; before the mask
  int32_t window = 0;           ///< 0 = none; a key at p - window or before is hidden from a query at p
  float alibi_max_bias = 0.0f;  ///< 0 = none
  bool operator==(const AttentionParams&) const = default;
};

/// Activation of a gated unit, act(gate) * up, or of a plain one.
enum class Activation : uint8_t { silu, gelu_tanh, gelu_erf, relu };

struct ActivationParams {
  Activation act;
  bool operator==(const ActivationParams&) const = default;
};

enum class ExpertGating : uint8_t { softmax, sigmoid, softmax_selected };

struct MoeParams {
  int32_t n_used;  ///< experts a token
  ExpertGating gating;
  bool norm_weights;   ///< divide the chosen weights by their sum
  float weight_scale;  ///< multiplies the weights, 1 = none
  Activation act;
  bool operator==(const MoeParams&) const = default;
};

using OpParams = std::variant<NoParams, NormParams, ScaleParams, SoftCapParams, RopeTableParams, RopeParams,
                              AttentionParams, ActivationParams, MoeParams>;

// One row an op: X(name, parameter type, least inputs, most inputs). Builders and shape rules: ops.hpp.
#define BRISK_OP_LIST(X)               \
  X(embed_rows, NoParams, 2, 2)        \
  X(select_rows, NoParams, 2, 2)       \
  X(matmul, NoParams, 2, 13)           \
  X(add, NoParams, 2, 2)               \
  X(mul, NoParams, 2, 2)               \
  X(scale, ScaleParams, 1, 1)          \
  X(soft_cap, SoftCapParams, 1, 1)     \
  X(rms_norm, NormParams, 1, 2)        \
  X(layer_norm, NormParams, 1, 3)      \
  X(rope_table, RopeTableParams, 1, 2) \
  X(rope, RopeParams, 2, 2)            \
  X(store_kv, AttentionParams, 7, 7)   \
  X(load_kv, AttentionParams, 5, 5)    \
  X(attention, AttentionParams, 6, 6)  \
  X(gated, ActivationParams, 2, 2)     \
  X(activate, ActivationParams, 1, 1)  \
  X(sigmoid_mul, NoParams, 2, 2)       \
  X(moe_ffn, MoeParams, 5, 5)

enum class Op : uint8_t {
#define BRISK_OP_ENUM(name, params, least, most) name,
  BRISK_OP_LIST(BRISK_OP_ENUM)
#undef BRISK_OP_ENUM
};

struct OpInfo {
  Op op;
  std::string_view name;
  int min_inputs;
  int max_inputs;
};

inline constexpr OpInfo kOps[] = {
#define BRISK_OP_ROW(name, params, least, most) {Op::name, #name, least, most},
    BRISK_OP_LIST(BRISK_OP_ROW)
#undef BRISK_OP_ROW
};
inline constexpr int kOpCount = static_cast<int>(sizeof(kOps) / sizeof(kOps[0]));

[[nodiscard]] constexpr std::string_view name_of(Op op) { return kOps[static_cast<int>(op)].name; }

}  // namespace brisk
