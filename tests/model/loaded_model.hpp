#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "gguf/reader.hpp"
#include "model/model.hpp"
#include "model/runner.hpp"

namespace brisk::model::test {

using Tokens = std::vector<int32_t>;

/// A model file on a CPU device with a forced instruction set ("" = the best one).
struct LoadedModel {
  explicit LoadedModel(const std::filesystem::path& path, std::string_view isa = {}, bool repack = true);

  [[nodiscard]] Runner runner(const RunnerOptions& options) const { return {*model, *device, options}; }

  gguf::Model file;
  std::unique_ptr<Backend> backend;
  Device* device;
  std::unique_ptr<Model> model;
};

/// 256 positions, f32 KV, one thread.
[[nodiscard]] RunnerOptions exact_options(int32_t n_seq_max = 1);

/// Feeds tokens to a sequence in chunks of the given lengths (the last repeats); returns [n_vocab, tokens] logits.
[[nodiscard]] std::vector<float> logits_of(Runner& runner, SequenceId id, std::span<const int32_t> tokens,
                                           std::span<const int32_t> chunks);
/// In one chunk.
[[nodiscard]] std::vector<float> logits_of(Runner& runner, SequenceId id, std::span<const int32_t> tokens);

[[nodiscard]] int32_t argmax(std::span<const float> row);
/// Largest |a - b|; infinity when a value is no number or lengths differ.
[[nodiscard]] float max_difference(std::span<const float> a, std::span<const float> b);
[[nodiscard]] double rms_difference(std::span<const float> a, std::span<const float> b);

/// `sequences` of a golden tokens.json.
[[nodiscard]] std::vector<Tokens> read_sequences(const std::filesystem::path& path);

/// Names of the instruction sets that this machine runs.
[[nodiscard]] std::vector<std::string> supported_isas();

}  // namespace brisk::model::test
