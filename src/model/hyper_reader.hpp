#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"
#include "model/hyper_params.hpp"

namespace brisk::model {

/// Reads `{arch}.key` values within bounds. A missing required key, a value of another type or out of bounds throws
/// Error(corrupt) that names file, key, value and bounds.
class HyperReader {
 public:
  HyperReader(const gguf::Metadata& metadata, std::string_view architecture)
      : metadata_(metadata), prefix_(std::string(architecture) + ".") {}

  struct Bounds {
    int64_t least = 1;
    int64_t most = std::numeric_limits<int32_t>::max();
  };

  [[nodiscard]] int32_t count(std::string_view key, Bounds bounds) const;
  [[nodiscard]] int32_t count_or(std::string_view key, int32_t fallback, Bounds bounds) const;
  /// One value a layer: a scalar holds for all, an array has one for each.
  [[nodiscard]] std::vector<int32_t> per_layer(std::string_view key, int32_t n_layer, Bounds bounds) const;
  /// Finite and positive.
  [[nodiscard]] float positive(std::string_view key) const;
  [[nodiscard]] float positive_or(std::string_view key, float fallback) const;
  /// Finite; 0 in the file means "not set" and gives the fallback.
  [[nodiscard]] float nonzero_or(std::string_view key, float fallback) const;
  [[nodiscard]] float finite_or(std::string_view key, float fallback) const;
  [[nodiscard]] std::string_view text_or(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] const gguf::Metadata& metadata() const { return metadata_; }
  [[nodiscard]] std::string name(std::string_view key) const { return prefix_ + std::string(key); }

 private:
  [[nodiscard]] int32_t checked(std::string_view key, int64_t value, Bounds bounds) const;

  const gguf::Metadata& metadata_;
  std::string prefix_;
};

/// The keys that every architecture reads: sizes, heads, experts. Norms, windows and rope are left to the architecture.
void read_common(const HyperReader& reader, HyperParams& hp);

/// The rotary embedding of the file with the user's overrides, into hp.rope; hp.rope_windowed becomes the same.
void read_rope(const HyperReader& reader, const RopeOverrides& overrides, HyperParams& hp);

/// Marks layers as windowed: of each `period` layers all but the last, unless the file has a pattern of its own (a
/// period, or one flag a layer). Period 0 = all. Does nothing when the file has no window.
void read_window(const HyperReader& reader, int32_t period, HyperParams& hp);

}  // namespace brisk::model
