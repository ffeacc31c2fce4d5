// The AVX2 + VNNI kernels compiled to vpdpbusd's AVX-512VL encoding: the same source and the same instruction, on
// processors that have AVX-512 VNNI but not AVX-VNNI. Links nothing of the standard library (see the ISA rule).
#include "cpu/kernels/avx2/matmul_vocab.hpp"

#include "cpu/kernels/generic/activations.hpp"
#include "cpu/kernels/generic/matmul_loops.hpp"

namespace brisk::test {

namespace {

template <cpu::PackFormat format>
void kernel(const cpu::MatmulArgs& args) noexcept {
  cpu::matmul<cpu::MatmulVocab, format>(args);
}

}  // namespace

using cpu::PackFormat;
extern const cpu::MatmulKernels kAvx2VnniTwin;
const cpu::MatmulKernels kAvx2VnniTwin = {cpu::quantize_activations<cpu::MatmulVocab>,
                                          cpu::transpose_activations<cpu::MatmulVocab>, BRISK_MATMUL_ENTRIES(kernel)};

}  // namespace brisk::test
