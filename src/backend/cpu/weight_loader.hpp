#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "cpu/pack/pack.hpp"
#include "cpu/thread_pool.hpp"

namespace brisk::cpu {

/// Device::load_weights of the CPU: matrices go packed into one mapping, everything else plain into another; with
/// repacking off, each weight borrows the file's bytes.
std::vector<TensorStorage> load_weights(ThreadPool& pool, std::span<const WeightSource> sources,
                                        const WeightOptions& options, std::vector<std::unique_ptr<Buffer>>& owner);

/// The matrix [shape[0], shape[1]] number `index` of a stored weight (of a stack of experts), as the kernels take it.
[[nodiscard]] MatrixView matrix_view(const Tensor& weight, int64_t index = 0);

/// Whether matmul has kernels for weights of this type.
[[nodiscard]] bool is_weight_type(DType dtype) noexcept;

}  // namespace brisk::cpu
