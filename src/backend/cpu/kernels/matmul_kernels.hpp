#pragma once

// Included by files that are compiled for one instruction set: C headers only, nothing that emits a weak symbol.
#include <stdint.h>

namespace brisk::cpu {

/// Rows of a packed group: one row a SIMD lane (two registers of 8 lanes on AVX2).
inline constexpr int kGroupRows = 16;
/// Tokens of an activation tile (measured on AVX-512 VNNI: 12, 14, 15, 16 tokens reach 61, 63, 63, 59 % of the peak).
inline constexpr int kTileTokens = 15;

static constexpr int64_t tile_count(int64_t n_tokens) { return (n_tokens + kTileTokens - 1) / kTileTokens; }

/// How a group of 16 weight rows lies in memory (docs: pack/pack.hpp). Types that differ only in how the file writes
/// the same levels share a format: iq2_xs is iq2_s's too, tq2_0 is tq1_0's.
enum class PackFormat : uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  iq4_nl,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_xs,
  mxfp4,
  nvfp4,
  iq3_xxs,
  iq3_s,
  iq2_xxs,
  iq2_xs,
  iq1_s,
  iq1_m,
  tq2_0,
  q2_0,
  q1_0,
};
inline constexpr int kPackFormatCount = 26;

/// One 32-wide block of one activation row, quantised to int8: x[i] ~ scale * q[i]. One cache line.
/// `init` = -offset * sum(q): where unsigned weight levels carry an offset, dot products start there.
struct ActivationBlock {
  int8_t q[32];
  float scale;
  int32_t init;          ///< -offset * sum of all 32
  int32_t init_half[2];  ///< -offset * sum of 16
  float fsum;            ///< scale * sum of all 32, for formats with minima
  float fsum_half[2];
  float unused;
};
static_assert(sizeof(ActivationBlock) == 64);

/// Activation rows to pack into tiles of kTileTokens tokens (the last tile is as narrow as the tokens left).
/// Tile of width w: quantised [w tokens][k / 32] ActivationBlocks, tokens innermost; f32 [w tokens][k] floats, tokens
/// innermost.
struct ActivationSource {
  const float* x;  ///< row r at x + r * ldx
  int64_t ldx;
  const int32_t* rows;  ///< token t is row rows[t]; null: row t
  int64_t n_tokens;
  int64_t k;
  int32_t offset;  ///< of the weight levels, for ActivationBlock::init; unused for f32
};

/// y[token][row] for all rows of `n_groups` packed groups and the tokens of whole tiles.
struct MatmulArgs {
  const uint8_t* weights;  ///< first group; 64-byte aligned, groups contiguous
  int64_t group_bytes;
  int64_t n_groups;
  int64_t n_rows;  ///< valid rows from the first group on, in (16 * (n_groups - 1), 16 * n_groups]
  int64_t k;
  const uint8_t* activations;  ///< first tile
  int64_t n_tokens;            ///< of these tiles
  float* y;                    ///< row of token t at y + ldy * (y_rows ? y_rows[t] : t)
  int64_t ldy;
  const int32_t* y_rows;
};

struct MatmulKernels {
  /// Packs tiles [tile_begin, tile_end) to int8 blocks; `out` is the start of tile 0.
  void (*quantize_activations)(const ActivationSource& source, int64_t tile_begin, int64_t tile_end,
                               uint8_t* out) noexcept;
  /// The same for f32, f16 and bf16 weights: activations stay f32.
  void (*transpose_activations)(const ActivationSource& source, int64_t tile_begin, int64_t tile_end,
                                uint8_t* out) noexcept;
  /// By PackFormat.
  void (*matmul[kPackFormatCount])(const MatmulArgs& args) noexcept;
};

}  // namespace brisk::cpu
