#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/dtype.hpp"

namespace brisk::cpu {

/// The stored codes of 32 elements of a row, before packing: word j holds elements 4j..4j+3 (k-quad j), one a byte.
struct LaneWords {
  uint32_t quad[8];
};

/// Scales of one block or super-block as the file has them: f16 bits, or the bytes of HeadKind::e8m0 and ue4m3s.
struct LaneScales {
  uint16_t d = 0;
  uint16_t m = 0;  ///< minimum, dmin, or the scale of the second half
};

/// Codes of block `block` (32 elements) of a row of a repackable block type.
LaneWords read_lane_words(DType dtype, const std::byte* row, int64_t block);

/// Scales of the (super-)block that holds `block`.
LaneScales read_lane_scales(DType dtype, const std::byte* row, int64_t block);

/// Sub-scale byte `index` (0, 1) of `block`, as SubKind says.
uint8_t read_sub_scale(DType dtype, const std::byte* row, int64_t block, int index);

}  // namespace brisk::cpu
