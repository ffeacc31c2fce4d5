#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "model/hyper_params.hpp"
#include "model/page_pool.hpp"
#include "tensor/ops.hpp"

namespace brisk::model {

/// Number of a sequence, 0 .. n_seq_max - 1.
using SequenceId = int32_t;

struct KvOptions {
  int32_t n_ctx = 0;  ///< most tokens of one sequence
  int32_t n_seq_max = 1;
  int32_t n_ubatch = 512;   ///< most tokens that are appended before release_behind is called
  int64_t n_positions = 0;  ///< room in all, rounded up to pages; 0 = n_ctx for every sequence
  DType type_k = DType::f16;
  DType type_v = DType::f16;
  bool keep_windows = false;  ///< windowed layers keep everything, so that any prefix can be reused
  bool operator==(const KvOptions&) const = default;
};

/// One stored row to move: read at `from`, K rotated by `rotate` positions, written at `to`.
struct KvMove {
  SequenceId from_sequence;
  int32_t from_slot;
  SequenceId to_sequence;
  int32_t to_slot;
  int32_t rotate;
};

/// Does the arithmetic of moves on the device; the runner is one. Rows are processed in order, or in runs of which all
/// rows are read before the first is written.
class KvMover {
 public:
  virtual ~KvMover() = default;
  virtual void move(int32_t group, std::span<const KvMove> moves) = 0;
};

/// Keys and values of all layers, in pages of kPagePositions slots. A sequence is a list of tokens; its n-th token has
/// slot n in the sequence's pages and a position of its own (what rotary embedding saw), so that tokens may be removed
/// from the middle and positions shifted or divided. Pages are reference-counted: sequences with a common prefix share
/// them and a page is copied when one of its owners writes to it. Layers with a sliding window are a group of their own
/// with its own pages, which are freed behind the window (but for kRollback slots). Memory is touched when first
/// written.
///
/// Owned by a runner; one thread. Positions of a sequence never fall from token to token. Ranges [p0, p1) are of
/// positions; p1 < 0 means to the end. Functions returning bool: false = impossible now (no free page, or a windowed
/// layer no longer has what would be needed), and nothing has changed.
class KvCache {
 public:
  /// Slots behind a window that stay, so that as many tokens can be taken back (rejected drafts).
  static constexpr int32_t kRollback = 64;

  /// Throws Error: invalid_argument (sizes), unsupported (types), out_of_memory.
  KvCache(const HyperParams& hp, Device& device, const KvOptions& options, KvMover& mover);

  [[nodiscard]] const KvOptions& options() const noexcept { return options_; }
  /// Tokens held.
  [[nodiscard]] int32_t size(SequenceId id) const { return static_cast<int32_t>(positions_of(id).size()); }
  /// Lowest and highest position; -1 when empty.
  [[nodiscard]] int32_t pos_min(SequenceId id) const;
  [[nodiscard]] int32_t pos_max(SequenceId id) const;
  /// Whether the sequence, cut to its first n tokens, could be continued.
  [[nodiscard]] bool can_continue_at(SequenceId id, int32_t n) const;
  /// Slots that could still be filled in full layers, in whole pages.
  [[nodiscard]] int64_t n_free() const;
  /// Bytes reserved (not necessarily touched).
  [[nodiscard]] uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Removes the tokens in the range; later ones move up to close the gap and keep their positions.
  [[nodiscard]] bool remove(SequenceId id, int32_t p0, int32_t p1);
  void clear(SequenceId id);
  void clear_all();
  /// Clears all sequences but this one.
  void keep(SequenceId id);
  /// `to` becomes the tokens of `from` in the range. A range from the beginning shares pages; another is copied.
  [[nodiscard]] bool copy(SequenceId from, SequenceId to, int32_t p0, int32_t p1);
  /// Adds delta to the positions in the range; K is rotated along. Throws Error(invalid_argument) when positions would
  /// fall below 0 or overtake each other, Error(unsupported) for models with learned positions.
  [[nodiscard]] bool shift(SequenceId id, int32_t p0, int32_t p1, int32_t delta);
  /// Divides the positions in the range by d >= 1. Otherwise as shift.
  [[nodiscard]] bool divide(SequenceId id, int32_t p0, int32_t p1, int32_t d);

  // For the runner.

  struct Demand {
    SequenceId id;
    int32_t n_tokens;
  };
  /// The first sequence whose tokens would not fit when all of these are appended; nullopt when all fit.
  [[nodiscard]] std::optional<SequenceId> first_without_room(std::span<const Demand> demands) const;
  /// Takes pages for tokens at these positions behind the present ones.
  [[nodiscard]] bool append(SequenceId id, std::span<const int32_t> positions);
  /// Takes the last tokens back, so that n are left.
  void truncate(SequenceId id, int32_t n);
  /// Frees the pages that no later token of the sequence can see.
  void release_behind(SequenceId id);

  struct Layer {
    int32_t group;
    TensorStorage k;
    TensorStorage v;
  };
  [[nodiscard]] const Layer& layer(int32_t index) const { return layers_[static_cast<size_t>(index)]; }
  [[nodiscard]] const TensorStorage& page_table(int32_t group) const;
  [[nodiscard]] int32_t n_groups() const { return static_cast<int32_t>(groups_.size()); }

 private:
  /// Pages of one sequence in one group.
  struct PageList {
    std::vector<int32_t> pages;  // by slot / kPagePositions; -1 = none
    int32_t first_valid = 0;     // slots from here on hold data
  };
  struct Group {
    int32_t window = 0;  // 0 = full attention
    PagePool pool;
    std::vector<PageList> lists;  // by sequence
    std::unique_ptr<Buffer> table_buffer;
    TensorStorage table;
  };
  struct SlotRange {
    int32_t begin;
    int32_t end;
    [[nodiscard]] bool empty() const { return begin >= end; }
  };

  [[nodiscard]] size_t checked(SequenceId id) const;
  [[nodiscard]] const std::vector<int32_t>& positions_of(SequenceId id) const { return positions_[checked(id)]; }
  [[nodiscard]] std::vector<int32_t>& positions_of(SequenceId id) { return positions_[checked(id)]; }
  [[nodiscard]] SlotRange slots_in(SequenceId id, int32_t p0, int32_t p1) const;
  void add_group(Device& device, int32_t window);
  void add_layer(Device& device, const HyperParams& hp, int32_t index, int32_t group);
  void set_page(Group& group, SequenceId id, int32_t index, int32_t page);
  [[nodiscard]] int32_t pages_to_write(const Group& group, SequenceId id, SlotRange slots) const;
  [[nodiscard]] bool can_write(SequenceId id, SlotRange slots) const;
  void make_writable(int32_t group, SequenceId id, SlotRange slots);
  void copy_page(int32_t group, int32_t from, int32_t to);
  void share_prefix(SequenceId from, SequenceId to, int32_t n);
  [[nodiscard]] bool close_gap(SequenceId id, SlotRange gap);
  [[nodiscard]] bool copy_middle(SequenceId from, SequenceId to, SlotRange slots);
  [[nodiscard]] bool reposition(SequenceId id, SlotRange slots, std::span<const int32_t> positions);

  KvOptions options_;
  KvMover& mover_;
  bool learned_positions_ = false;
  std::vector<std::vector<int32_t>> positions_;  // by sequence and slot
  std::vector<Group> groups_;
  std::vector<Layer> layers_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  uint64_t size_bytes_ = 0;
};

}  // namespace brisk::model
