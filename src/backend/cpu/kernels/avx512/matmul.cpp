#include "cpu/kernels/avx512/matmul_vocab.hpp"

#include "cpu/kernels/generic/activations.hpp"
#include "cpu/kernels/generic/matmul_loops.hpp"

namespace brisk::cpu {
namespace {

template <PackFormat format>
void kernel(const MatmulArgs& args) noexcept {
  matmul<MatmulVocab, format>(args);
}

}  // namespace

const MatmulKernels avx512::kMatmulKernels = {quantize_activations<MatmulVocab>, transpose_activations<MatmulVocab>,
                                              BRISK_MATMUL_ENTRIES(kernel)};

}  // namespace brisk::cpu
