#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/table.hpp"
#include "cpu/pack/pack.hpp"

namespace brisk::cpu {

/// Form of the activations that a weight format needs: f32, or int8 blocks made for one level offset. Activations that
/// serve several matrices need packing only once per ActivationFormat.
struct ActivationFormat {
  bool quantized = false;
  int32_t offset = 0;
  bool operator==(const ActivationFormat&) const = default;
};
[[nodiscard]] ActivationFormat activation_format(PackFormat format) noexcept;

/// Bytes of packed activations; the buffer must be 64-byte aligned.
[[nodiscard]] uint64_t activation_bytes(ActivationFormat format, int64_t n_tokens, int64_t k) noexcept;

/// Tiles (tile_count(n_tokens) of them) are the unit in which packing and matmul_groups are split over tokens.

/// Packs tiles [tile_begin, tile_end) of the source (its `offset` is ignored: `format` has it) into `out`, the whole
/// buffer.
void pack_activations(const KernelTable& table, ActivationFormat format, const ActivationSource& source,
                      int64_t tile_begin, int64_t tile_end, std::byte* out) noexcept;

/// Packed activations of `n_tokens` tokens. Does not own.
struct ActivationView {
  ActivationFormat format;
  const std::byte* data = nullptr;
  int64_t n_tokens = 0;
  int64_t k = 0;
};

/// Where results go: y[token][row] at data + ld * token; with `rows`, token t goes to row rows[t] (experts scatter so).
struct MatmulOutput {
  float* data = nullptr;
  int64_t ld = 0;
  const int32_t* rows = nullptr;
};

/// A part of one matmul: groups of 16 output rows (group_count(n) in all) times activation tiles
/// (tile_count(n_tokens)).
struct MatmulRange {
  int64_t group_begin = 0;
  int64_t group_end = 0;
  int64_t tile_begin = 0;
  int64_t tile_end = 0;
};

/// Scratch bytes (64-byte aligned) that a thread needs for matmul_groups on this matrix; 0 when it is packed.
[[nodiscard]] uint64_t matmul_scratch_bytes(const MatrixView& w) noexcept;

/// Computes the part `range` of y = w * x. Parts are independent: any thread, any order, the same bits.
void matmul_groups(const KernelTable& table, const MatrixView& w, const ActivationView& x, const MatmulOutput& y,
                   const MatmulRange& range, std::byte* scratch) noexcept;

}  // namespace brisk::cpu
