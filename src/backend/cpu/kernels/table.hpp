#pragma once

#include "cpu/kernels/matmul_kernels.hpp"

namespace brisk::cpu {

struct OpKernels;  // kernels/op_kernels.hpp

/// Instruction sets that have a kernel table of their own. The scalar one is the definition; the others equal it bit
/// for bit.
enum class Isa : unsigned char { scalar, avx2, avx2_vnni, avx512, avx512_vnni };

inline constexpr int kIsaCount = 5;

/// Everything that depends on the instruction set. Chosen once, when the device is made.
struct KernelTable {
  const char* name;  ///< as BRISK_CPU spells it: "avx512_vnni"
  Isa isa;
  const MatmulKernels* matmul;
  const OpKernels* ops;
};

/// The table of an instruction set. Its functions may be called only where isa_supported(isa) (cpu/cpu_features.hpp).
[[nodiscard]] const KernelTable& kernel_table(Isa isa) noexcept;

}  // namespace brisk::cpu
