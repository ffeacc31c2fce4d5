#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "quant/dtype.hpp"

namespace brisk::gguf {

/// A tensor of a model, already validated: its bytes lie inside its file.
struct TensorInfo {
  std::string name;
  DType dtype;
  std::array<int64_t, 4> shape;  ///< innermost first, unused dims 1
  int n_dims;                    ///< as stored
  uint32_t file;                 ///< index of the split part
  uint64_t offset;               ///< from the start of that file
  uint64_t size_bytes;
};

}  // namespace brisk::gguf
