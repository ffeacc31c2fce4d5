#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "model/kv_cache.hpp"
#include "model/model.hpp"

namespace brisk::model {

/// Tokens to compute, in any order of sequences; those of one sequence in ascending positions.
struct Batch {
  std::vector<int32_t> tokens;
  std::vector<int32_t> positions;
  std::vector<SequenceId> sequences;
  std::vector<uint8_t> outputs;  ///< nonzero = logits wanted

  void add(int32_t token, int32_t position, SequenceId sequence, bool output);
  void clear();
  [[nodiscard]] size_t size() const { return tokens.size(); }
};

struct RunnerOptions {
  int32_t n_ctx = 0;       ///< most tokens of one sequence; 0 = what the model was trained for
  int32_t n_batch = 2048;  ///< most tokens of one decode
  int32_t n_ubatch = 512;  ///< most tokens of one run of the graph
  int32_t n_seq_max = 1;
  int64_t n_positions = 0;  ///< room in the KV cache in all; 0 = n_ctx for every sequence
  DType type_k = DType::f16;
  DType type_v = DType::f16;
  bool keep_windows = false;  ///< KvOptions::keep_windows
  ThreadOptions threads;
  bool operator==(const RunnerOptions&) const = default;
};

struct DecodeResult {
  enum class Status : uint8_t { ok, context_full };
  Status status = Status::ok;
  SequenceId sequence = -1;  ///< the one without room
  [[nodiscard]] bool ok() const { return status == Status::ok; }
};

/// Computes batches with a model: owns the KV cache, the input buffers, a stream and the plans of recent batch shapes.
/// The logits of a token depend on the tokens before it in its sequence and on nothing else: not on how a prompt was
/// cut into batches, what else was in the batch, the number of threads, or whether a prefix was computed or shared. One
/// thread at a time; model and device must outlive it.
class Runner final : private KvMover {
 public:
  /// Throws Error: invalid_argument, unsupported, out_of_memory.
  Runner(const Model& model, Device& device, const RunnerOptions& options);
  ~Runner() override;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Appends the batch's tokens to their sequences and computes the wanted logits. When a sequence has no room, nothing
  /// is changed and the result names it. Throws Error(invalid_argument) for a token outside the vocabulary, a position
  /// not behind the sequence's last, or an unknown sequence; Error(cancelled) when aborted: the tokens of graph runs
  /// that were complete by then stay (KvCache::size tells).
  [[nodiscard]] DecodeResult decode(const Batch& batch);
  /// Logits [n_vocab] of the batch's token `index`, which asked for them; valid until the next decode.
  [[nodiscard]] std::span<const float> logits(size_t index) const;

  [[nodiscard]] KvCache& kv() noexcept { return kv_; }
  [[nodiscard]] const KvCache& kv() const noexcept { return kv_; }
  [[nodiscard]] const Model& model() const noexcept { return model_; }
  [[nodiscard]] const RunnerOptions& options() const noexcept { return options_; }
  /// Asked between operations; true ends decode with Error(cancelled).
  void set_abort(std::function<bool()> should_abort);

 private:
  struct Inputs;
  struct Prepared;
  using Rows = std::span<const uint32_t>;

  void move(int32_t group, std::span<const KvMove> moves) override;
  void check(const Batch& batch) const;
  [[nodiscard]] std::vector<uint32_t> order_of(const Batch& batch) const;
  [[nodiscard]] size_t ubatch_length(const Batch& batch, Rows rest) const;
  void run_ubatch(const Batch& batch, Rows rows);
  void take_back(const Batch& batch, Rows rows);
  void write_inputs(const Batch& batch, Rows rows, std::vector<int32_t>& output_rows);
  Prepared& prepared(int32_t n_tokens, int32_t n_outputs);
  [[nodiscard]] Plan move_plan(int32_t group, int32_t n_rows, bool rotate) const;

  const Model& model_;
  RunnerOptions options_;
  KvCache kv_;
  std::unique_ptr<Inputs> inputs_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<Prepared>> plans_;  // most recently used last
  std::vector<float> logits_;                     // [n_vocab, outputs]
  std::vector<int64_t> logits_row_;               // by batch index; -1 = not asked for
  int64_t n_rows_done_ = 0;
};

}  // namespace brisk::model
