#pragma once

#include <stddef.h>
#include <stdint.h>

namespace brisk::cpu {

/// What no kernel of an instruction set can beat, as loops to be timed. A multiplication with its addition counts as
/// two operations.
struct LimitKernels {
  /// Loads every byte of [data, data + size), size a multiple of 1024, data aligned to 64; the result depends on all.
  uint64_t (*read)(const void* data, size_t size) noexcept;
  /// int8 dot products on registers.
  uint64_t (*dot)(uint64_t rounds) noexcept;
  int dot_ops;  ///< of a round
  /// f32 multiply-adds on registers.
  float (*fma)(uint64_t rounds) noexcept;
  int fma_ops;
};

namespace scalar {
extern const LimitKernels kLimitKernels;
}
namespace avx2 {
extern const LimitKernels kLimitKernels;
}
namespace avx2_vnni {
extern const LimitKernels kLimitKernels;
}
namespace avx512 {
extern const LimitKernels kLimitKernels;
}
namespace avx512_vnni {
extern const LimitKernels kLimitKernels;
}

}  // namespace brisk::cpu
