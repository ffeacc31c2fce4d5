#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "model/build.hpp"
#include "model/hyper_reader.hpp"
#include "model/weights.hpp"

namespace brisk::model {

/// One architecture: what it reads, which tensors it has, how a layer is computed. docs/add-an-architecture.md.
struct Architecture {
  std::string_view name;  ///< general.architecture
  /// After read_common and read_rope: norms, windows, scales.
  void (*read_params)(const HyperReader& reader, HyperParams& hp);
  std::span<const std::span<const TensorDecl>> tensors;
  /// Tokens to what the first layer takes [n_embd, m].
  TensorRef (*embed)(Build& b);
  /// One layer: [n_embd, m] to [n_embd, m], or to the wanted rows of them in the last layer.
  TensorRef (*layer)(Build& b, TensorRef x, int32_t il);
  /// Result of the last layer to logits [n_vocab, n_outputs].
  TensorRef (*head)(Build& b, TensorRef x);
};

/// All of them, by name.
[[nodiscard]] std::span<const Architecture* const> architectures();
/// nullptr when there is none of that name.
[[nodiscard]] const Architecture* find_architecture(std::string_view name);

}  // namespace brisk::model
