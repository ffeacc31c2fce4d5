#include "cpu/kernels/table.hpp"

#include "cpu/kernels/op_kernels.hpp"
#include "cpu/kernels/tables.hpp"

namespace brisk::cpu {
namespace {

const KernelTable kTables[] = {
    {"scalar", Isa::scalar, &scalar::kMatmulKernels, &scalar::kOpKernels},
#ifdef BRISK_CPU_X86
    {"avx2", Isa::avx2, &avx2::kMatmulKernels, &avx2::kOpKernels},
    {"avx2_vnni", Isa::avx2_vnni, &avx2_vnni::kMatmulKernels, &avx2::kOpKernels},
    {"avx512", Isa::avx512, &avx512::kMatmulKernels, &avx512::kOpKernels},
    {"avx512_vnni", Isa::avx512_vnni, &avx512_vnni::kMatmulKernels, &avx512::kOpKernels},
#endif
};

}  // namespace

const KernelTable& kernel_table(Isa isa) noexcept {
  for (const KernelTable& table : kTables) {
    if (table.isa == isa) return table;
  }
  return kTables[0];
}

}  // namespace brisk::cpu
