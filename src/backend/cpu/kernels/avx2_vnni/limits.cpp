#include "cpu/kernels/avx2/limit_vocab.hpp"

namespace brisk::cpu {

const LimitKernels avx2_vnni::kLimitKernels = BRISK_LIMIT_KERNELS(LimitVocab);

}  // namespace brisk::cpu
