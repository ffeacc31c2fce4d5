#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "gguf/reader.hpp"
#include "model/hyper_params.hpp"
#include "model/weights.hpp"

namespace brisk::model {

struct Architecture;

struct LoadOptions {
  bool repack = true;  ///< false: the file must stay open as long as the model
  RopeOverrides rope;
  /// Bytes done, bytes in all; returning false stops the load with Error(cancelled). May be empty.
  std::function<bool(uint64_t, uint64_t)> progress;
};

/// A model on a device: numbers and weights, immutable once loaded, so that any number of runners may share it.
class Model {
 public:
  /// Errors: unsupported (architecture, scaling type), corrupt (metadata, or tensors missing, superfluous or of another
  /// shape: one message that lists them all), cancelled, out_of_memory. The device must outlive the model.
  static std::unique_ptr<Model> load(const gguf::Model& file, Device& device, const LoadOptions& options = {});

  [[nodiscard]] const HyperParams& params() const noexcept { return params_; }
  [[nodiscard]] const Architecture& architecture() const noexcept { return *architecture_; }
  [[nodiscard]] const GlobalWeights& globals() const noexcept { return globals_; }
  [[nodiscard]] const LayerWeights& layer(int32_t index) const { return layers_[static_cast<size_t>(index)]; }
  [[nodiscard]] bool tied_embeddings() const noexcept { return globals_.output == globals_.token_embd; }
  [[nodiscard]] uint64_t n_parameters() const noexcept { return n_parameters_; }
  [[nodiscard]] uint64_t weight_bytes() const noexcept { return weight_bytes_; }  ///< as in the file
  /// "llama 135 M, 30 layers, width 576, 9 heads (3 KV), context 8192": one line for a person.
  [[nodiscard]] std::string summary() const;

 private:
  Model() = default;
  void load_tensors(const gguf::Model& file, Device& device, const LoadOptions& options);

  const Architecture* architecture_ = nullptr;
  HyperParams params_;
  GlobalWeights globals_;
  std::vector<LayerWeights> layers_;
  std::vector<std::vector<std::byte>> converted_;  ///< f32 bytes of vectors that the file has in another type
  std::vector<TensorStorage> storages_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  uint64_t n_parameters_ = 0;
  uint64_t weight_bytes_ = 0;
};

}  // namespace brisk::model
