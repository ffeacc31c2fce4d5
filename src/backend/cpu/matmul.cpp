#include "cpu/matmul.hpp"

#include <algorithm>

#include "cpu/kernels/generic/formats.hpp"

namespace brisk::cpu {
namespace {

uint64_t token_bytes(ActivationFormat format, int64_t k) {
  const auto elements = static_cast<uint64_t>(k);
  return format.quantized ? elements / 32 * sizeof(ActivationBlock) : elements * sizeof(float);
}

const uint8_t* raw(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }

/// The arguments of a kernel call that are the same for every group.
MatmulArgs token_part(const ActivationView& x, const MatmulOutput& y, int64_t tile_begin, int64_t tile_end) {
  const int64_t first = tile_begin * kTileTokens;
  MatmulArgs args{};
  args.k = x.k;
  args.activations = raw(x.data) + static_cast<uint64_t>(first) * token_bytes(x.format, x.k);
  args.n_tokens = std::min(tile_end * kTileTokens, x.n_tokens) - first;
  args.ldy = y.ld;
  args.y = y.rows ? y.data : y.data + first * y.ld;
  args.y_rows = y.rows ? y.rows + first : nullptr;
  return args;
}

void set_groups(MatmulArgs& args, const MatrixView& w, int64_t begin, int64_t end) {
  args.n_groups = end - begin;
  args.n_rows = std::min(end * kGroupRows, w.n) - begin * kGroupRows;
  args.y += begin * kGroupRows;
}

}  // namespace

ActivationFormat activation_format(PackFormat format) noexcept {
  const PackLayout& layout = pack_layout(format);
  return {layout.blocks != 0, layout.offset};
}

uint64_t activation_bytes(ActivationFormat format, int64_t n_tokens, int64_t k) noexcept {
  return static_cast<uint64_t>(n_tokens) * token_bytes(format, k);
}

void pack_activations(const KernelTable& table, ActivationFormat format, const ActivationSource& source,
                      int64_t tile_begin, int64_t tile_end, std::byte* out) noexcept {
  ActivationSource with_offset = source;
  with_offset.offset = format.offset;
  const auto pack = format.quantized ? table.matmul->quantize_activations : table.matmul->transpose_activations;
  pack(with_offset, tile_begin, tile_end, reinterpret_cast<uint8_t*>(out));
}

uint64_t matmul_scratch_bytes(const MatrixView& w) noexcept { return w.packed ? 0 : group_bytes(w.format, w.k); }

void matmul_groups(const KernelTable& table, const MatrixView& w, const ActivationView& x, const MatmulOutput& y,
                   const MatmulRange& range, std::byte* scratch) noexcept {
  const auto kernel = table.matmul->matmul[static_cast<int>(w.format)];
  const auto size = static_cast<int64_t>(group_bytes(w.format, w.k));
  if (!w.packed) {
    // A group is packed once, for all tokens.
    const auto row_bytes = static_cast<int64_t>(bytes_of(w.dtype, static_cast<uint64_t>(w.k)));
    for (int64_t g = range.group_begin; g < range.group_end; ++g) {
      const int64_t rows = std::min((g + 1) * kGroupRows, w.n) - g * kGroupRows;
      pack_group(w.dtype, {w.data + g * kGroupRows * row_bytes, static_cast<size_t>(rows * row_bytes)}, w.k, scratch);
      MatmulArgs args = token_part(x, y, range.tile_begin, range.tile_end);
      set_groups(args, w, g, g + 1);
      args.weights = raw(scratch);
      args.group_bytes = size;
      kernel(args);
    }
    return;
  }
  MatmulArgs args = token_part(x, y, range.tile_begin, range.tile_end);
  set_groups(args, w, range.group_begin, range.group_end);
  args.weights = raw(w.data) + range.group_begin * size;
  args.group_bytes = size;
  kernel(args);
}

}  // namespace brisk::cpu
