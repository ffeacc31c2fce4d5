#include "model/runner.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "model/build.hpp"

namespace brisk::model {

namespace {

// Graphs are rebuilt in well under a millisecond a layer; a few shapes (decode, full and last prompt chunk, each with
// and without outputs) cover the work of a server.
constexpr size_t kMaxPlans = 16;

// A run's logits lie in the arena: with 256 k tokens in the vocabulary this allows 64 rows instead of 512 MB.
constexpr int64_t kMaxLogitsBytes = int64_t{64} << 20;

RunnerOptions resolved(const Model& model, RunnerOptions options) {
  const HyperParams& hp = model.params();
  if (options.n_ctx == 0) options.n_ctx = hp.n_ctx_train;
  if (options.n_ctx < 0 || options.n_batch < 1 || options.n_ubatch < 1) {
    fail(ErrorCode::invalid_argument, "context {}, batch {}, ubatch {}: all must be positive", options.n_ctx,
         options.n_batch, options.n_ubatch);
  }
  options.n_ubatch = std::min(options.n_ubatch, options.n_batch);
  return options;
}

KvOptions kv_options(const RunnerOptions& o) {
  return {o.n_ctx, o.n_seq_max, o.n_ubatch, o.n_positions, o.type_k, o.type_v, o.keep_windows};
}

}  // namespace

void Batch::add(int32_t token, int32_t position, SequenceId sequence, bool output) {
  tokens.push_back(token);
  positions.push_back(position);
  sequences.push_back(sequence);
  outputs.push_back(output ? 1 : 0);
}

void Batch::clear() {
  tokens.clear();
  positions.clear();
  sequences.clear();
  outputs.clear();
}

/// Input rows of n_ubatch i32 each, one below the other in one buffer.
struct Runner::Inputs {
  enum Row : int { tokens, positions, slots, sequences, output_rows, to_slots, to_sequences, n_rows };

  Inputs(Device& device, int32_t n_ubatch)
      : row_bytes(static_cast<uint64_t>(n_ubatch) * sizeof(int32_t)), buffer(device.allocate(row_bytes * n_rows)) {}

  [[nodiscard]] TensorStorage row(Row which, int64_t n) const {
    static constexpr const char* kNames[n_rows] = {"tokens",      "positions", "slots",       "sequences",
                                                   "output_rows", "to_slots",  "to_sequences"};
    return {kNames[which], DType::i32, Shape(n), buffer.get(), row_bytes * which};
  }
  void write(Row which, std::span<const int32_t> values) const {
    buffer->write(row_bytes * which, std::as_bytes(values));
  }

  uint64_t row_bytes;
  std::unique_ptr<Buffer> buffer;
};

struct Runner::Prepared {
  int32_t n_tokens;
  int32_t n_outputs;
  Plan plan;
  TensorRef logits;
};

Runner::Runner(const Model& model, Device& device, const RunnerOptions& options)
    : model_(model),
      options_(resolved(model, options)),
      kv_(model.params(), device, kv_options(options_), *this),
      inputs_(std::make_unique<Inputs>(device, options_.n_ubatch)),
      stream_(device.new_stream(options.threads)) {}

Runner::~Runner() = default;

void Runner::set_abort(std::function<bool()> should_abort) { stream_->set_abort(std::move(should_abort)); }

void Runner::check(const Batch& batch) const {
  const size_t n = batch.size();
  if (batch.positions.size() != n || batch.sequences.size() != n || batch.outputs.size() != n) {
    fail(ErrorCode::invalid_argument, "a batch has {} tokens, {} positions, {} sequences, {} output flags", n,
         batch.positions.size(), batch.sequences.size(), batch.outputs.size());
  }
  if (n > static_cast<size_t>(options_.n_batch)) {
    fail(ErrorCode::invalid_argument, "a batch of {} tokens; at most {} are allowed", n, options_.n_batch);
  }
  const HyperParams& hp = model_.params();
  std::vector<int32_t> last(static_cast<size_t>(options_.n_seq_max));
  for (SequenceId id = 0; id < options_.n_seq_max; ++id) last[static_cast<size_t>(id)] = kv_.pos_max(id);
  for (size_t i = 0; i < n; ++i) {
    if (batch.tokens[i] < 0 || batch.tokens[i] >= hp.n_vocab) {
      fail(ErrorCode::invalid_argument, "token {} is outside the vocabulary of {}", batch.tokens[i], hp.n_vocab);
    }
    if (batch.sequences[i] < 0 || batch.sequences[i] >= options_.n_seq_max) {
      fail(ErrorCode::invalid_argument, "sequence {} is outside 0..{}", batch.sequences[i], options_.n_seq_max - 1);
    }
    int32_t& before = last[static_cast<size_t>(batch.sequences[i])];
    if (batch.positions[i] <= before) {
      fail(ErrorCode::invalid_argument, "sequence {}: position {} is not behind {}", batch.sequences[i],
           batch.positions[i], before);
    }
    before = batch.positions[i];
    if (hp.learned_positions && before >= hp.n_ctx_train) {
      fail(ErrorCode::invalid_argument, "position {} is beyond the model's {} learned positions", before,
           hp.n_ctx_train);
    }
  }
}

/// Batch indices with each sequence's tokens together, as attention wants them.
std::vector<uint32_t> Runner::order_of(const Batch& batch) const {
  std::vector<uint32_t> order(batch.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return batch.sequences[i]; });
  return order;
}

size_t Runner::ubatch_length(const Batch& batch, Rows rest) const {
  const int64_t row_bytes = int64_t{model_.params().n_vocab} * static_cast<int64_t>(sizeof(float));
  const int64_t max_outputs = std::max<int64_t>(1, kMaxLogitsBytes / row_bytes);
  const size_t most = std::min(rest.size(), static_cast<size_t>(options_.n_ubatch));
  int64_t n_outputs = 0;
  for (size_t i = 0; i < most; ++i) {
    if (batch.outputs[rest[i]] != 0 && ++n_outputs > max_outputs) return i;
  }
  return most;
}

DecodeResult Runner::decode(const Batch& batch) {
  check(batch);
  const std::vector<uint32_t> order = order_of(batch);
  std::vector<KvCache::Demand> demands;
  for (const uint32_t i : order) {
    if (demands.empty() || demands.back().id != batch.sequences[i]) demands.push_back({batch.sequences[i], 0});
    ++demands.back().n_tokens;
  }
  if (const auto full = kv_.first_without_room(demands)) return {DecodeResult::Status::context_full, *full};
  logits_row_.assign(batch.size(), -1);
  n_rows_done_ = 0;
  const auto n_outputs = std::ranges::count_if(batch.outputs, [](uint8_t flag) { return flag != 0; });
  logits_.resize(static_cast<size_t>(n_outputs) * static_cast<size_t>(model_.params().n_vocab));
  for (Rows rest = order; !rest.empty();) {
    const size_t n = ubatch_length(batch, rest);
    run_ubatch(batch, rest.first(n));
    rest = rest.subspan(n);
  }
  return {};
}

void Runner::run_ubatch(const Batch& batch, Rows rows) {
  std::vector<int32_t> output_rows;
  write_inputs(batch, rows, output_rows);
  const auto n_outputs = static_cast<int32_t>(output_rows.size());
  try {
    Prepared& ready = prepared(static_cast<int32_t>(rows.size()), n_outputs);
    stream_->run(ready.plan, rows.size() > 1);
    const size_t n_vocab = static_cast<size_t>(model_.params().n_vocab);
    const size_t first = static_cast<size_t>(n_rows_done_) * n_vocab;
    const auto out = std::span(logits_).subspan(first, output_rows.size() * n_vocab);
    if (n_outputs > 0) stream_->read(ready.plan, ready.logits, 0, std::as_writable_bytes(out));
  } catch (...) {
    take_back(batch, rows);
    throw;
  }
  for (const int32_t row : output_rows) logits_row_[rows[static_cast<size_t>(row)]] = n_rows_done_++;
  for (size_t i = 0; i < rows.size(); ++i) {
    const SequenceId id = batch.sequences[rows[i]];
    if (i == 0 || id != batch.sequences[rows[i - 1]]) kv_.release_behind(id);
  }
}

/// Undoes the appends of a run that failed, so that its sequences are as they were before it.
void Runner::take_back(const Batch& batch, Rows rows) {
  for (const uint32_t i : rows) kv_.truncate(batch.sequences[i], kv_.size(batch.sequences[i]) - 1);
}

void Runner::write_inputs(const Batch& batch, Rows rows, std::vector<int32_t>& output_rows) {
  std::vector<int32_t> tokens, positions, slots, sequences;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t at = rows[i];
    tokens.push_back(batch.tokens[at]);
    positions.push_back(batch.positions[at]);
    sequences.push_back(batch.sequences[at]);
    if (batch.outputs[at] != 0) output_rows.push_back(static_cast<int32_t>(i));
  }
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && sequences[end] == sequences[begin]) ++end;
    int32_t slot = kv_.size(sequences[begin]);
    for (size_t i = begin; i < end; ++i) slots.push_back(slot++);
    const bool fits = kv_.append(sequences[begin], std::span(positions).subspan(begin, end - begin));
    BRISK_CHECK(fits, "room was checked before");
    begin = end;
  }
  inputs_->write(Inputs::tokens, tokens);
  inputs_->write(Inputs::positions, positions);
  inputs_->write(Inputs::slots, slots);
  inputs_->write(Inputs::sequences, sequences);
  if (!output_rows.empty()) {
    inputs_->write(Inputs::output_rows, output_rows);
  } else {
    // Nothing is wanted; the graph is built with one row and what only it needs is left out.
    inputs_->write(Inputs::output_rows, std::vector<int32_t>{0});
  }
}

Runner::Prepared& Runner::prepared(int32_t n_tokens, int32_t n_outputs) {
  const auto same = [&](const auto& p) { return p->n_tokens == n_tokens && p->n_outputs == n_outputs; };
  auto found = std::ranges::find_if(plans_, same);
  if (found == plans_.end()) {
    const GraphInputs inputs{inputs_->row(Inputs::tokens, n_tokens), inputs_->row(Inputs::positions, n_tokens),
                             inputs_->row(Inputs::slots, n_tokens), inputs_->row(Inputs::sequences, n_tokens),
                             inputs_->row(Inputs::output_rows, std::max(n_outputs, 1))};
    BuiltGraph built = build_graph(model_, kv_, inputs, n_outputs > 0);
    if (plans_.size() == kMaxPlans) plans_.erase(plans_.begin());
    plans_.push_back(
        std::make_unique<Prepared>(Prepared{n_tokens, n_outputs, make_plan(std::move(built.graph)), built.logits}));
    return *plans_.back();
  }
  std::rotate(found, found + 1, plans_.end());
  return *plans_.back();
}

std::span<const float> Runner::logits(size_t index) const {
  if (index >= logits_row_.size() || logits_row_[index] < 0) {
    fail(ErrorCode::invalid_argument, "token {} of the batch has no logits; set its output flag", index);
  }
  const auto n_vocab = static_cast<size_t>(model_.params().n_vocab);
  return std::span(logits_).subspan(static_cast<size_t>(logits_row_[index]) * n_vocab, n_vocab);
}

// ---- moves: stored rows are read, K is rotated by the difference of positions, and both are stored elsewhere

Plan Runner::move_plan(int32_t group, int32_t n_rows, bool rotate) const {
  const HyperParams& hp = model_.params();
  Graph g;
  const TensorRef table = g.store(kv_.page_table(group));
  const TensorRef from_slots = g.store(inputs_->row(Inputs::slots, n_rows));
  const TensorRef from_sequences = g.store(inputs_->row(Inputs::sequences, n_rows));
  const TensorRef to_slots = g.store(inputs_->row(Inputs::to_slots, n_rows));
  const TensorRef to_sequences = g.store(inputs_->row(Inputs::to_sequences, n_rows));
  const TensorRef deltas = g.store(inputs_->row(Inputs::positions, n_rows));
  const Weight factors = rope_factors(model_, options_.n_ctx);
  for (int32_t il = 0; il < hp.n_layer(); ++il) {
    const KvCache::Layer& layer = kv_.layer(il);
    if (layer.group != group) continue;
    const AttentionParams params = hp.attention(il);
    KvInputs kv{g.store(layer.k), g.store(layer.v), from_slots, from_sequences, table};
    const TensorRef both = load_kv(g, kv, params);
    const int64_t n_k = int64_t{params.n_head_kv} * params.head_dim;
    TensorRef k = g.view_columns(both, 0, n_k);
    const TensorRef v = g.view_columns(both, n_k, int64_t{params.n_head_kv} * params.head_dim_v);
    if (rotate && hp.layer(il).rotated) {
      RopeTableParams angles = hp.layer(il).windowed ? hp.rope_windowed : hp.rope;
      angles.attn_factor = 1.0f;  // the stored K has it already
      const TensorRef f = factors == nullptr ? TensorRef{} : g.store(*factors);
      k = rope(g, k, rope_table(g, deltas, f, angles), hp.head_dim, hp.rope_layout);
    }
    kv.positions = to_slots;
    kv.sequences = to_sequences;
    store_kv(g, k, v, kv, params);
  }
  return make_plan(std::move(g));
}

void Runner::move(int32_t group, std::span<const KvMove> moves) {
  const bool rotate = std::ranges::any_of(moves, [](const KvMove& m) { return m.rotate != 0; });
  std::optional<Plan> plan;
  int32_t planned_rows = 0;
  std::vector<int32_t> column;
  while (!moves.empty()) {
    const auto chunk = moves.first(std::min(moves.size(), static_cast<size_t>(options_.n_ubatch)));
    const auto n_rows = static_cast<int32_t>(chunk.size());
    const auto write = [&](Inputs::Row row, int32_t KvMove::*field) {
      column.clear();
      for (const KvMove& m : chunk) column.push_back(m.*field);
      inputs_->write(row, column);
    };
    write(Inputs::slots, &KvMove::from_slot);
    write(Inputs::sequences, &KvMove::from_sequence);
    write(Inputs::to_slots, &KvMove::to_slot);
    write(Inputs::to_sequences, &KvMove::to_sequence);
    write(Inputs::positions, &KvMove::rotate);
    if (!plan || planned_rows != n_rows) plan = move_plan(group, n_rows, rotate);
    planned_rows = n_rows;
    stream_->run(*plan, n_rows > 1);
    moves = moves.subspan(chunk.size());
  }
}

}  // namespace brisk::model
