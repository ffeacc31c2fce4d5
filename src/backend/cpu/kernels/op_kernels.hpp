#pragma once

// Included by files that are compiled for one instruction set: C headers only, nothing that emits a weak symbol.
#include <stdint.h>

namespace brisk::cpu {

/// Activations, in the order of brisk::Activation.
inline constexpr int kActivationCount = 4;

/// Element types of KV pages that the kernels read.
enum class KvType : uint8_t { f32, f16 };
inline constexpr int kKvTypeCount = 2;

/// Positions of a page and of a chunk, the unit of attention's arithmetic.
inline constexpr int kPageWidth = 64;
inline constexpr int kChunkPages = 4;
inline constexpr int kChunkWidth = kPageWidth * kChunkPages;

/// One chunk of 256 positions of one KV head, seen by several query rows (tokens of a tile times heads of the group).
/// Positions are relative to the chunk. A page that is not there is null.
struct AttentionChunk {
  const void* k_pages[kChunkPages];  ///< [head_dim][64]
  const void* v_pages[kChunkPages];  ///< [64][head_dim_v]
  int32_t n_rows;
  int32_t head_dim;
  int32_t head_dim_v;
  const float* const* q;  ///< row r: head_dim values
  const int32_t* first;   ///< row r sees positions first[r] .. last[r] - 1; both within 0 .. 256, first <= last
  const int32_t* last;
  const int32_t* position;  ///< of the row's token, relative to the chunk (may be beyond it)
  const float* slopes;      ///< ALiBi by row; null = none
  float scale;
  float soft_cap;  ///< 0 = none
  float* scores;   ///< scratch [n_rows][256]
  float* max;      ///< results by row: greatest score (-inf = nothing visible),
  float* sum;      ///< sum of exp(score - max),
  float* out;      ///< [n_rows][head_dim_v]: sum of exp(score - max) * v
};

/// Attention of one query row over some chunks, and over one more.
struct AttentionState {
  float* max;
  float* sum;
  float* values;
};
struct AttentionResult {
  float max;
  float sum;
  const float* values;
};

/// Rows of one head each for rotary embedding.
struct RopeArgs {
  const float* x;      ///< n_heads runs of head_dim values
  const float* table;  ///< n_rot / 2 pairs (cos, sin)
  float* out;
  int32_t n_heads;
  int32_t head_dim;
  int32_t n_rot;
};

struct NormArgs {
  const float* x;
  const float* weight;  ///< null = none
  const float* bias;    ///< null = none
  float* out;
  int64_t n;
  float epsilon;
};

/// Kernels of all ops but matmul. Every instruction set gives the same bits: sums run over 16 virtual lanes (element i
/// in lane i mod 16, lanes folded 8-4-2-1), the functions of kernels/generic/math.hpp replace libm's. No alignment is
/// needed; results may not overlap operands, except that elementwise kernels may work in place.
struct OpKernels {
  void (*add)(const float* x, const float* y, float* out, int64_t n) noexcept;
  void (*mul)(const float* x, const float* y, float* out, int64_t n) noexcept;
  void (*scale)(const float* x, float factor, float* out, int64_t n) noexcept;
  /// out += factor * x, fused.
  void (*add_scaled)(const float* x, float factor, float* out, int64_t n) noexcept;
  void (*soft_cap)(const float* x, float cap, float* out, int64_t n) noexcept;
  void (*sigmoid)(const float* x, float* out, int64_t n) noexcept;
  void (*activate[kActivationCount])(const float* x, float* out, int64_t n) noexcept;
  void (*gated[kActivationCount])(const float* gate, const float* up, float* out, int64_t n) noexcept;
  void (*exp)(const float* x, float* out, int64_t n) noexcept;
  void (*softmax)(const float* x, float* out, int64_t n) noexcept;
  void (*rms_norm)(const NormArgs& args) noexcept;
  void (*layer_norm)(const NormArgs& args) noexcept;
  void (*rope_norm)(const RopeArgs& args) noexcept;  ///< pairs (2i, 2i + 1)
  void (*rope_neox)(const RopeArgs& args) noexcept;  ///< pairs (i, i + n_rot / 2)
  void (*to_f16)(const float* x, uint16_t* out, int64_t n) noexcept;
  void (*from_f16)(const uint16_t* x, float* out, int64_t n) noexcept;
  /// By KvType.
  void (*attention_chunk[kKvTypeCount])(const AttentionChunk& args) noexcept;
  /// Takes a later chunk into the state of the earlier ones.
  void (*attention_merge)(const AttentionState& state, const AttentionResult& chunk, int64_t head_dim_v) noexcept;
  /// values / sum; zeros when nothing was visible.
  void (*attention_finish)(float sum, const float* values, float* out, int64_t head_dim_v) noexcept;
};

namespace scalar {
extern const OpKernels kOpKernels;
}
namespace avx2 {
extern const OpKernels kOpKernels;
}
namespace avx512 {
extern const OpKernels kOpKernels;
}

}  // namespace brisk::cpu
