#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gguf/reader.hpp"
#include "model/arch/arch.hpp"

namespace brisk::model {

/// A declared tensor that the file has: where it goes, and whether it is only ever looked up by row.
struct FoundTensor {
  const gguf::TensorInfo* info;
  const TensorDecl* decl;
  int32_t layer;  ///< -1 = outside the layers
};

/// Matches what the architecture declares with what the file has. Missing, superfluous and misshapen tensors give one
/// Error(corrupt) that lists them all. Tensors that other programs are known to leave in files are passed over.
[[nodiscard]] std::vector<FoundTensor> match_tensors(const Architecture& architecture, const HyperParams& hp,
                                                     const gguf::Model& file);

}  // namespace brisk::model
