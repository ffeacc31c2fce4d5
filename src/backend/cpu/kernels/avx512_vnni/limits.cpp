#include "cpu/kernels/avx512/limit_vocab.hpp"

namespace brisk::cpu {

const LimitKernels avx512_vnni::kLimitKernels = BRISK_LIMIT_KERNELS(LimitVocab);

}  // namespace brisk::cpu
