#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "cpu/cpu_features.hpp"
#include "cpu/matmul.hpp"
#include "cpu/pack/pack.hpp"
#include "quant/codec.hpp"
#include "quant/dtype.hpp"

namespace brisk::test {

/// The types that matrices of a model can have.
inline constexpr DType kWeightTypes[] = {
    DType::f32,    DType::f16,     DType::bf16,   DType::q4_0,  DType::q4_1,  DType::q5_0,    DType::q5_1,
    DType::q8_0,   DType::iq4_nl,  DType::q2_k,   DType::q3_k,  DType::q4_k,  DType::q5_k,    DType::q6_k,
    DType::iq4_xs, DType::iq2_xxs, DType::iq2_xs, DType::iq2_s, DType::iq3_s, DType::iq3_xxs, DType::iq1_s,
    DType::iq1_m,  DType::tq1_0,   DType::tq2_0,  DType::mxfp4, DType::nvfp4, DType::q1_0,    DType::q2_0,
};

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
};
/// 64-byte aligned, filled with 0xCD so that bytes nobody wrote show.
using AlignedBytes = std::unique_ptr<std::byte, AlignedDelete>;

inline AlignedBytes aligned_bytes(uint64_t size) {
  AlignedBytes bytes(static_cast<std::byte*>(::operator new (size + 64, std::align_val_t{64})));
  std::memset(bytes.get(), 0xCD, size + 64);
  return bytes;
}

/// Blocks of random bytes, so that every bit pattern counts, as far as their values are finite and not huge.
inline std::vector<std::byte> random_rows(DType dtype, int64_t n, int64_t k, std::mt19937& random) {
  const DTypeTraits& type = traits(dtype);
  std::vector<std::byte> rows(bytes_of(type, static_cast<uint64_t>(n * k)));
  std::vector<float> values(type.block_length);
  for (size_t at = 0; at < rows.size(); at += type.block_bytes) {
    bool usable = false;
    while (!usable) {
      for (size_t i = 0; i < type.block_bytes; ++i) rows[at + i] = static_cast<std::byte>(random());
      decode(dtype, rows.data() + at, values);
      usable = true;
      for (const float value : values) usable = usable && value > -1e5f && value < 1e5f;
    }
  }
  return rows;
}

/// Groups of a packed matrix.
inline AlignedBytes pack_matrix(DType dtype, std::span<const std::byte> rows, int64_t n, int64_t k) {
  const uint64_t size = cpu::group_bytes(cpu::pack_format(dtype), k);
  AlignedBytes packed = aligned_bytes(size * static_cast<uint64_t>(cpu::group_count(n)));
  const auto row_bytes = static_cast<int64_t>(bytes_of(dtype, static_cast<uint64_t>(k)));
  for (int64_t g = 0; g < cpu::group_count(n); ++g) {
    const int64_t first = g * cpu::kGroupRows;
    const int64_t count = std::min<int64_t>(cpu::kGroupRows, n - first);
    cpu::pack_group(dtype, rows.subspan(static_cast<size_t>(first * row_bytes), static_cast<size_t>(count * row_bytes)),
                    k, packed.get() + static_cast<uint64_t>(g) * size);
  }
  return packed;
}

/// Instruction sets that this machine can run.
inline std::vector<cpu::Isa> host_isas() {
  std::vector<cpu::Isa> found;
  for (int i = 0; i < cpu::kIsaCount; ++i) {
    if (cpu::isa_supported(static_cast<cpu::Isa>(i))) found.push_back(static_cast<cpu::Isa>(i));
  }
  return found;
}

}  // namespace brisk::test
