#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/kernels/matmul_kernels.hpp"
#include "quant/dtype.hpp"

// Weights as the matmul kernels read them: groups of 16 rows, one row a SIMD lane, the rows' 4-element k-quads
// interleaved into 64-byte lines. docs/formats/packed-weights.md has the layouts.

namespace brisk::cpu {

/// The format of a group of rows of `dtype`. Throws for types that are no weights (integers, f64, q8_1, q8_k).
[[nodiscard]] PackFormat pack_format(DType dtype);

[[nodiscard]] constexpr int64_t group_count(int64_t n) noexcept { return (n + kGroupRows - 1) / kGroupRows; }

/// Bytes of one packed group, a multiple of 64. `k` is a multiple of the dtype's block length.
[[nodiscard]] uint64_t group_bytes(PackFormat format, int64_t k) noexcept;

/// Packs up to 16 whole rows in the file's bytes into one group at `out` (64-byte aligned); absent rows become zeros.
void pack_group(DType dtype, std::span<const std::byte> rows, int64_t k, std::byte* out);

/// Decodes row `row` (0..15) of a packed group: equal to decode() of the original row, bit for bit.
void unpack_row(PackFormat format, const std::byte* group, int row, std::span<float> out);

/// A weight matrix [k, n] as the kernels take it. Does not own.
struct MatrixView {
  DType dtype = DType::f32;
  PackFormat format = PackFormat::f32;
  const std::byte* data = nullptr;  ///< packed groups, or the file's rows
  int64_t n = 0;                    ///< rows (outputs)
  int64_t k = 0;
  bool packed = false;
};

}  // namespace brisk::cpu
