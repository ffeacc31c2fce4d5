#include "cpu/kernels/avx2/op_vocab.hpp"

#include "cpu/kernels/generic/op_table.hpp"

namespace brisk::cpu {

const OpKernels avx2::kOpKernels = BRISK_OP_ENTRIES(OpVocab);

}  // namespace brisk::cpu
