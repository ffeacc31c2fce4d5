#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "cpu/exact_math.hpp"
#include "cpu/ops/kv_pages.hpp"
#include "cpu/ops/tasks.hpp"

namespace brisk::cpu {

namespace {

static_assert(kPageWidth == kPagePositions);

// Query rows (tokens x heads of a KV group) worked off together: 8 register blocks of 6, whose chunk of K and V (128 KB
// at 128 values a head in f16) stays in the second-level cache meanwhile.
constexpr int64_t kTileRows = 48;
// Chunk results kept for one pass; beyond it a tile walks its chunks alone.
constexpr uint64_t kMaxPartialBytes = 64 << 20;

/// Tokens of one sequence, in a row: first .. first + count - 1.
struct Tile {
  int64_t first = 0;
  int64_t count = 0;
  int64_t chunk_begin = 0;  ///< chunks that at least one token sees
  int64_t chunk_end = 0;
  int64_t first_part = 0;   ///< number of its first (chunk, KV head) among all tiles
  int64_t first_state = 0;  ///< of its chunk results, in states
};

/// Slope of ALiBi for head h of n (arXiv 2108.12409).
float alibi_slope(int h, int n_head, float max_bias) {
  const int n2 = static_cast<int>(std::bit_floor(static_cast<unsigned>(n_head)));
  const bool extra = h >= n2;
  const double exponent = extra ? (2.0 * (h - n2) + 1.0) / (2.0 * n2) : (h + 1.0) / n2;
  return static_cast<float>(exact_exp(-static_cast<double>(max_bias) * exponent * 0.6931471805599453));
}

/// With many tiles, each is worked off by one thread, chunk by chunk. With few, the chunks are shared out and their
/// results merged afterwards in chunk order; the arithmetic is the same.
class AttentionTask : public OpTask {
 public:
  AttentionTask(const TaskContext& context, const Node& node)
      : kernels_(context.kernels()),
        q_(context.rows(node.inputs[0])),
        out_(context.rows(node.output)),
        pages_(context, {node.inputs[1], node.inputs[2], node.inputs[3], node.inputs[4], node.inputs[5]},
               std::get<AttentionParams>(node.params)) {
    const AttentionParams& p = pages_.params();
    group_ = p.n_head / p.n_head_kv;
    tile_tokens_ = std::max<int64_t>(1, kTileRows / group_);
    state_floats_ = 2 + p.head_dim_v;
    if (p.alibi_max_bias > 0.0f) {
      for (int h = 0; h < p.n_head; ++h) slopes_.push_back(alibi_slope(h, p.n_head, p.alibi_max_bias));
    }
  }

  [[nodiscard]] int phases() const override { return 2; }
  [[nodiscard]] int64_t chunks(int phase) const override {
    const int64_t units = static_cast<int64_t>(tiles_.size()) * pages_.params().n_head_kv;
    if (phase == 1) return split_ ? units : 0;
    return split_ ? n_parts_ : units;
  }
  [[nodiscard]] uint64_t shared_bytes() const override {
    return split_ ? static_cast<uint64_t>(n_states_ * state_floats_) * 4 : 0;
  }
  [[nodiscard]] uint64_t local_bytes() const override {
    const auto rows = static_cast<uint64_t>(tile_tokens_ * group_);
    return rows * (kRowBytes + (kChunkWidth + 2 * static_cast<uint64_t>(state_floats_)) * 4);
  }

  void begin(int n_threads) override {
    find_tiles();
    const int64_t units = static_cast<int64_t>(tiles_.size()) * pages_.params().n_head_kv;
    const uint64_t partial_bytes = static_cast<uint64_t>(n_states_ * state_floats_) * 4;
    split_ = n_threads > 1 && units < 4 * n_threads && n_parts_ > units && partial_bytes <= kMaxPartialBytes;
  }

  void run(int phase, int64_t chunk, const Scratch& scratch) override {
    const int64_t n_head_kv = pages_.params().n_head_kv;
    if (!split_) {
      walk(tiles_[static_cast<size_t>(chunk / n_head_kv)], static_cast<int>(chunk % n_head_kv), scratch);
    } else if (phase == 0) {
      const Tile& tile = *std::prev(std::ranges::upper_bound(tiles_, chunk, {}, &Tile::first_part));
      const int64_t part = chunk - tile.first_part;
      const auto head = static_cast<int>(part % n_head_kv);
      const int64_t index = part / n_head_kv;
      compute(tile, head, tile.chunk_begin + index, chunk_state(tile, head, index, scratch), scratch);
    } else {
      merge_tile(tiles_[static_cast<size_t>(chunk / n_head_kv)], static_cast<int>(chunk % n_head_kv), scratch);
    }
  }

 private:
  /// A query row's pointer, visible range, position and slope.
  static constexpr uint64_t kRowBytes = sizeof(const float*) + 3 * sizeof(int32_t) + sizeof(float);
  /// Chunk results of the rows of a tile: max [rows], sum [rows], values [rows][head_dim_v].
  struct States {
    float* max;
    float* sum;
    float* values;
  };

  [[nodiscard]] int64_t first_visible(int64_t token) const {
    const int64_t window = pages_.params().window;
    return window > 0 ? std::max<int64_t>(0, pages_.position(token) - window + 1) : 0;
  }

  void find_tiles() {
    tiles_.clear();
    n_parts_ = 0;
    n_states_ = 0;
    for (int64_t t = 0; t < pages_.n_tokens();) {
      Tile tile{t, 1, first_visible(t) / kChunkWidth, 0, n_parts_, n_states_};
      while (t + tile.count < pages_.n_tokens() && tile.count < tile_tokens_ &&
             pages_.sequence(t + tile.count) == pages_.sequence(t)) {
        ++tile.count;
      }
      t += tile.count;
      tile.chunk_end = pages_.position(t - 1) / kChunkWidth + 1;
      const int64_t n_chunks = std::max<int64_t>(0, tile.chunk_end - tile.chunk_begin);
      n_parts_ += n_chunks * pages_.params().n_head_kv;
      n_states_ += n_chunks * tile.count * pages_.params().n_head;
      tiles_.push_back(tile);
    }
  }

  [[nodiscard]] int64_t rows_of(const Tile& tile) const { return tile.count * group_; }

  [[nodiscard]] States states_at(float* base, const Tile& tile) const {
    return {base, base + rows_of(tile), base + 2 * rows_of(tile)};
  }

  /// Where the results of the tile's chunk number `index` go when they are kept.
  [[nodiscard]] States chunk_state(const Tile& tile, int head, int64_t index, const Scratch& scratch) const {
    const int64_t before = tile.first_state + (index * pages_.params().n_head_kv + head) * rows_of(tile);
    return states_at(reinterpret_cast<float*>(scratch.shared) + before * state_floats_, tile);
  }

  /// Scratch of a thread: [scores][two sets of states][row arrays].
  [[nodiscard]] float* local_states(const Tile& tile, int which, const Scratch& scratch) const {
    auto* floats = reinterpret_cast<float*>(scratch.local);
    return floats + rows_of(tile) * (kChunkWidth + which * state_floats_);
  }

  /// One chunk for the rows of one tile and KV head.
  void compute(const Tile& tile, int head, int64_t chunk, const States& to, const Scratch& scratch) const {
    const AttentionParams& p = pages_.params();
    const int64_t rows = rows_of(tile);
    AttentionChunk a{};
    const int32_t sequence = pages_.sequence(tile.first);
    for (int i = 0; i < kChunkPages; ++i) {
      const int32_t page = pages_.page_at(sequence, chunk * kChunkPages + i);
      a.k_pages[i] = page < 0 ? nullptr : pages_.k(page, head);
      a.v_pages[i] = page < 0 ? nullptr : pages_.v(page, head);
    }
    auto* q = reinterpret_cast<const float**>(local_states(tile, 2, scratch));
    auto* ranges = reinterpret_cast<int32_t*>(q + rows);
    auto* slopes = reinterpret_cast<float*>(ranges + 3 * rows);
    const int64_t start = chunk * kChunkWidth;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t token = tile.first + r / group_;
      const int64_t query_head = head * group_ + r % group_;
      q[r] = q_.row(token) + query_head * p.head_dim;
      const int64_t last = std::clamp<int64_t>(pages_.position(token) + 1 - start, 0, kChunkWidth);
      ranges[r] = static_cast<int32_t>(std::clamp<int64_t>(first_visible(token) - start, 0, last));
      ranges[rows + r] = static_cast<int32_t>(last);
      ranges[2 * rows + r] = static_cast<int32_t>(pages_.position(token) - start);
      if (!slopes_.empty()) slopes[r] = slopes_[static_cast<size_t>(query_head)];
    }
    a.n_rows = static_cast<int32_t>(rows);
    a.head_dim = p.head_dim;
    a.head_dim_v = p.head_dim_v;
    a.q = q;
    a.first = ranges;
    a.last = ranges + rows;
    a.position = ranges + 2 * rows;
    a.slopes = slopes_.empty() ? nullptr : slopes;
    a.scale = p.scale;
    a.soft_cap = p.soft_cap;
    a.scores = reinterpret_cast<float*>(scratch.local);
    a.max = to.max;
    a.sum = to.sum;
    a.out = to.values;
    kernels_.attention_chunk[static_cast<int>(pages_.type())](a);
  }

  void clear(const States& s, int64_t rows) const {
    std::fill_n(s.max, rows, -std::numeric_limits<float>::infinity());
    std::fill_n(s.sum, rows, 0.0f);
  }

  void merge(const States& state, const States& chunk, int64_t rows) const {
    const int64_t n = pages_.params().head_dim_v;
    for (int64_t r = 0; r < rows; ++r) {
      kernels_.attention_merge({&state.max[r], &state.sum[r], state.values + r * n},
                               {chunk.max[r], chunk.sum[r], chunk.values + r * n}, n);
    }
  }

  void finish(const Tile& tile, int head, const States& state) const {
    const int64_t n = pages_.params().head_dim_v;
    for (int64_t r = 0; r < rows_of(tile); ++r) {
      float* to = out_.row(tile.first + r / group_) + (head * group_ + r % group_) * n;
      kernels_.attention_finish(state.sum[r], state.values + r * n, to, n);
    }
  }

  void walk(const Tile& tile, int head, const Scratch& scratch) const {
    const States state = states_at(local_states(tile, 0, scratch), tile);
    const States chunk = states_at(local_states(tile, 1, scratch), tile);
    clear(state, rows_of(tile));
    for (int64_t c = tile.chunk_begin; c < tile.chunk_end; ++c) {
      compute(tile, head, c, chunk, scratch);
      merge(state, chunk, rows_of(tile));
    }
    finish(tile, head, state);
  }

  void merge_tile(const Tile& tile, int head, const Scratch& scratch) const {
    const States state = states_at(local_states(tile, 0, scratch), tile);
    clear(state, rows_of(tile));
    for (int64_t c = tile.chunk_begin; c < tile.chunk_end; ++c) {
      merge(state, chunk_state(tile, head, c - tile.chunk_begin, scratch), rows_of(tile));
    }
    finish(tile, head, state);
  }

  const OpKernels& kernels_;
  Rows q_, out_;
  KvPages pages_;
  std::vector<float> slopes_;
  int64_t group_ = 1;
  int64_t tile_tokens_ = 1;
  int64_t state_floats_ = 0;
  // Of the current run.
  std::vector<Tile> tiles_;
  int64_t n_parts_ = 0;
  int64_t n_states_ = 0;
  bool split_ = false;
};

}  // namespace

bool accepts_attention(const Graph& graph, const Node& node) {
  return kv_inputs_fit(graph, {node.inputs[1], node.inputs[2], node.inputs[3], node.inputs[4], node.inputs[5]});
}

std::unique_ptr<OpTask> make_attention(const TaskContext& context, const Node& node) {
  return std::make_unique<AttentionTask>(context, node);
}

}  // namespace brisk::cpu
