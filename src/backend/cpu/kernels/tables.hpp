#pragma once

#include "cpu/kernels/matmul_kernels.hpp"

// The matmul part of each instruction set's table, defined in kernels/<isa>/matmul.cpp.

namespace brisk::cpu {

namespace scalar {
extern const MatmulKernels kMatmulKernels;
}
namespace avx2 {
extern const MatmulKernels kMatmulKernels;
}
namespace avx2_vnni {
extern const MatmulKernels kMatmulKernels;
}
namespace avx512 {
extern const MatmulKernels kMatmulKernels;
}
namespace avx512_vnni {
extern const MatmulKernels kMatmulKernels;
}

}  // namespace brisk::cpu

/// Instances of a kernel template <PackFormat>, in the order of the formats.
#define BRISK_MATMUL_ENTRIES(kernel)                                                                                   \
  {                                                                                                                    \
    kernel<PackFormat::f32>, kernel<PackFormat::f16>, kernel<PackFormat::bf16>, kernel<PackFormat::q4_0>,              \
        kernel<PackFormat::q4_1>, kernel<PackFormat::q5_0>, kernel<PackFormat::q5_1>, kernel<PackFormat::q8_0>,        \
        kernel<PackFormat::iq4_nl>, kernel<PackFormat::q2_k>, kernel<PackFormat::q3_k>, kernel<PackFormat::q4_k>,      \
        kernel<PackFormat::q5_k>, kernel<PackFormat::q6_k>, kernel<PackFormat::iq4_xs>, kernel<PackFormat::mxfp4>,     \
        kernel<PackFormat::nvfp4>, kernel<PackFormat::iq3_xxs>, kernel<PackFormat::iq3_s>,                             \
        kernel<PackFormat::iq2_xxs>, kernel<PackFormat::iq2_xs>, kernel<PackFormat::iq1_s>, kernel<PackFormat::iq1_m>, \
        kernel<PackFormat::tq2_0>, kernel<PackFormat::q2_0>, kernel<PackFormat::q1_0>                                  \
  }
