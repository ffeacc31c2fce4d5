#pragma once

#include "cpu/pack/lane_words.hpp"

// The grid, ternary, one-bit and NVFP4 types: codes and sub-scales of kernels/generic/formats.hpp from the file's
// bytes. `block` points at a block of the file, `part` counts its 32-wide parts.

namespace brisk::cpu {

LaneWords grid_words(DType dtype, const std::byte* block, int part) noexcept;

uint8_t grid_sub_scale(DType dtype, const std::byte* block, int part, int half) noexcept;

/// The f16 bits of an iq1_m block, which has no field for them.
uint16_t iq1_m_d(const std::byte* block) noexcept;

}  // namespace brisk::cpu
