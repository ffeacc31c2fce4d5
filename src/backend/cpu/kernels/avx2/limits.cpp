#include "cpu/kernels/avx2/limit_vocab.hpp"

namespace brisk::cpu {

const LimitKernels avx2::kLimitKernels = BRISK_LIMIT_KERNELS(LimitVocab);

}  // namespace brisk::cpu
