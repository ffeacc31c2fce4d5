#include "cpu/kernels/avx512/op_vocab.hpp"

#include "cpu/kernels/generic/op_table.hpp"

namespace brisk::cpu {

const OpKernels avx512::kOpKernels = BRISK_OP_ENTRIES(OpVocab);

}  // namespace brisk::cpu
