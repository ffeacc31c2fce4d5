#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "test_support/gguf_builder.hpp"

namespace brisk::model::test {

/// Sizes of a made-up model of two layers.
struct TinySizes {
  int32_t n_layer = 2, n_vocab = 40, n_embd = 32, n_head = 4, n_head_kv = 2, head_dim = 8, n_ff = 48;
};

/// A random model in the tensors of the llama block, as a file to load and as numbers to compute with.
class TinyModel {
 public:
  using Values = std::vector<double>;

  TinyModel(std::string architecture, const TinySizes& sizes);

  /// Metadata goes straight into the builder: key("rope.freq_base") has the architecture's prefix.
  [[nodiscard]] std::string key(const std::string& name) const { return architecture_ + "." + name; }
  brisk::test::GgufBuilder& builder() { return builder_; }
  void set(const std::string& name, std::vector<int64_t> dims, Values values);
  [[nodiscard]] const Values& values(const std::string& name) const { return tensors_.at(name).values; }
  void erase(const std::string& name) { tensors_.erase(name); }
  [[nodiscard]] const TinySizes& sizes() const { return sizes_; }
  /// Bytes of the file.
  [[nodiscard]] std::string file() const;

 private:
  struct Stored {
    std::vector<int64_t> dims;
    Values values;
  };
  Values random(size_t n, double scale, double centre = 0.0);

  std::string architecture_;
  TinySizes sizes_;
  brisk::test::GgufBuilder builder_;
  std::map<std::string, Stored> tensors_;
  uint64_t state_ = 1;
};

/// What the reference computes differently from plain llama.
struct ReferenceOptions {
  bool neox = false;
  int32_t n_rot = 0;  ///< 0 = head_dim
  /// Angle per position of pair i, and what multiplies cos and sin.
  std::function<double(int)> frequency = [](int i) { return std::pow(10000.0, -2.0 * i / 8); };
  double magnitude = 1.0;
  double embedding_scale = 1.0;
  bool gelu = false;
  int32_t window = 0;
};

/// Logits [n_vocab] of the last token, straightforwardly in f64.
[[nodiscard]] std::vector<float> reference_logits(const TinyModel& model, const std::vector<int32_t>& tokens,
                                                  const ReferenceOptions& options);

}  // namespace brisk::model::test
