#pragma once

#include <cstdint>

namespace brisk::quant {

// Points of the grid types: byte i of a little-endian word is the magnitude (iq2, iq3) or the value -1, 0, 1 (iq1) of
// element i.
extern const uint64_t kIq2xxsGrid[256];
extern const uint64_t kIq2xsGrid[512];
extern const uint64_t kIq2sGrid[1024];
extern const uint64_t kIq1sGrid[2048];
extern const uint32_t kIq3xxsGrid[256];
extern const uint32_t kIq3sGrid[512];

}  // namespace brisk::quant
