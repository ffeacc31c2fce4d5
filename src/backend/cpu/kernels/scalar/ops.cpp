#include "cpu/kernels/scalar/op_vocab.hpp"

#include "cpu/kernels/generic/op_table.hpp"

namespace brisk::cpu {

const OpKernels scalar::kOpKernels = BRISK_OP_ENTRIES(OpVocab);

}  // namespace brisk::cpu
