#include "model/kv_cache.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/error.hpp"

namespace brisk::model {

namespace {

constexpr auto kSlots = static_cast<int32_t>(kPagePositions);

int32_t pages_of(int64_t n_slots) { return static_cast<int32_t>((n_slots + kSlots - 1) / kSlots); }

uint64_t checked_product(uint64_t a, uint64_t b) {
  const auto product = checked_mul(a, b);
  if (!product) fail(ErrorCode::invalid_argument, "KV cache: {} x {} bytes cannot be addressed", a, b);
  return *product;
}

void check_options(const KvOptions& o) {
  if (o.n_ctx < 1 || o.n_seq_max < 1 || o.n_ubatch < 1 || o.n_positions < 0) {
    fail(ErrorCode::invalid_argument, "KV cache: {} positions for {} sequences, {} in a batch; all must be positive",
         o.n_ctx, o.n_seq_max, o.n_ubatch);
  }
  for (const DType type : {o.type_k, o.type_v}) {
    if (type == DType::f32 || type == DType::f16) continue;
    fail(ErrorCode::unsupported, "KV cache: type {} is not supported; use f16 or f32", traits(type).name);
  }
}

}  // namespace

KvCache::KvCache(const HyperParams& hp, Device& device, const KvOptions& options, KvMover& mover)
    : options_(options), mover_(mover), learned_positions_(hp.learned_positions) {
  check_options(options);
  positions_.resize(static_cast<size_t>(options.n_seq_max));
  int32_t full = -1;
  int32_t windowed = -1;
  for (int32_t il = 0; il < hp.n_layer(); ++il) {
    const bool has_window = hp.layer(il).windowed && hp.window > 0 && !options.keep_windows;
    int32_t& group = has_window ? windowed : full;
    if (group < 0) {
      group = n_groups();
      add_group(device, has_window ? hp.window : 0);
    }
    add_layer(device, hp, il, group);
  }
}

void KvCache::add_group(Device& device, int32_t window) {
  const int32_t pages_a_sequence = pages_of(options_.n_ctx);
  const int64_t all = int64_t{pages_a_sequence} * options_.n_seq_max;
  int64_t n_pages = options_.n_positions > 0 ? std::min(all, int64_t{pages_of(options_.n_positions)}) : all;
  if (window > 0) {
    // Window, what may be taken back, and a batch; each may begin and end inside a page. One share more is the room in
    // which remove() moves tokens into pages that were freed.
    const int64_t kept = int64_t{pages_of(int64_t{window} + kRollback + options_.n_ubatch)} + 2;
    n_pages = std::min<int64_t>(kept, pages_a_sequence) * (int64_t{options_.n_seq_max} + 1);
  }
  if (n_pages > std::numeric_limits<int32_t>::max() / kSlots) {
    fail(ErrorCode::invalid_argument, "KV cache: {} sequences of {} positions are too many", options_.n_seq_max,
         options_.n_ctx);
  }
  Group group;
  group.window = window;
  group.pool = PagePool(static_cast<int32_t>(n_pages));
  group.lists.resize(positions_.size());
  for (PageList& list : group.lists) list.pages.assign(static_cast<size_t>(pages_a_sequence), -1);
  const std::vector<int32_t> none(static_cast<size_t>(all), -1);
  group.table_buffer = device.allocate(none.size() * sizeof(int32_t));
  group.table_buffer->write(0, std::as_bytes(std::span(none)));
  group.table = {fmt::format("page_table.{}", groups_.size()), DType::i32, Shape(pages_a_sequence, options_.n_seq_max),
                 group.table_buffer.get(), 0};
  size_bytes_ += none.size() * sizeof(int32_t);
  groups_.push_back(std::move(group));
}

void KvCache::add_layer(Device& device, const HyperParams& hp, int32_t index, int32_t group) {
  const AttentionParams p = hp.attention(index);
  const int32_t n_pages = groups_[static_cast<size_t>(group)].pool.size();
  const auto store = [&](const char* what, DType type, int64_t width) {
    const Shape shape(kPagePositions * width, n_pages);
    const uint64_t bytes = checked_product(bytes_of(type, static_cast<uint64_t>(shape[0])), shape.dim[1]);
    buffers_.push_back(device.allocate(bytes));
    size_bytes_ += bytes;
    return TensorStorage{fmt::format("{}.{}", what, index), type, shape, buffers_.back().get(), 0};
  };
  TensorStorage k = store("k", options_.type_k, int64_t{p.n_head_kv} * p.head_dim);
  TensorStorage v = store("v", options_.type_v, int64_t{p.n_head_kv} * p.head_dim_v);
  layers_.push_back({group, std::move(k), std::move(v)});
}

size_t KvCache::checked(SequenceId id) const {
  if (id < 0 || id >= options_.n_seq_max) {
    fail(ErrorCode::invalid_argument, "sequence {} is outside 0..{}", id, options_.n_seq_max - 1);
  }
  return static_cast<size_t>(id);
}

int32_t KvCache::pos_min(SequenceId id) const {
  const auto& positions = positions_of(id);
  return positions.empty() ? -1 : positions.front();
}

int32_t KvCache::pos_max(SequenceId id) const {
  const auto& positions = positions_of(id);
  return positions.empty() ? -1 : positions.back();
}

KvCache::SlotRange KvCache::slots_in(SequenceId id, int32_t p0, int32_t p1) const {
  const auto& positions = positions_of(id);
  const auto slot = [&](int32_t p) {
    return static_cast<int32_t>(std::ranges::lower_bound(positions, p) - positions.begin());
  };
  return {slot(p0), p1 < 0 ? static_cast<int32_t>(positions.size()) : slot(p1)};
}

bool KvCache::can_continue_at(SequenceId id, int32_t n) const {
  BRISK_CHECK(n >= 0 && n <= size(id), "a cut lies inside the sequence");
  return n == size(id) || std::ranges::all_of(groups_, [&](const Group& group) {
           const int32_t first_valid = group.lists[static_cast<size_t>(id)].first_valid;
           return group.window == 0 || first_valid == 0 || n - group.window + 1 >= first_valid;
         });
}

int64_t KvCache::n_free() const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Group& group : groups_) {
    if (group.window == 0) least = std::min<int64_t>(least, int64_t{group.pool.n_free()} * kSlots);
  }
  return least;
}

const TensorStorage& KvCache::page_table(int32_t group) const { return groups_[static_cast<size_t>(group)].table; }

// ---- pages

void KvCache::set_page(Group& group, SequenceId id, int32_t index, int32_t page) {
  PageList& list = group.lists[static_cast<size_t>(id)];
  int32_t& entry = list.pages[static_cast<size_t>(index)];
  if (entry == page) return;
  entry = page;
  const uint64_t row = static_cast<uint64_t>(id) * list.pages.size();
  group.table_buffer->write((row + static_cast<uint64_t>(index)) * sizeof(int32_t), std::as_bytes(std::span(&page, 1)));
}

int32_t KvCache::pages_to_write(const Group& group, SequenceId id, SlotRange slots) const {
  if (slots.empty()) return 0;
  const PageList& list = group.lists[static_cast<size_t>(id)];
  int32_t n = 0;
  for (int32_t j = slots.begin / kSlots; j <= (slots.end - 1) / kSlots; ++j) {
    const int32_t page = list.pages[static_cast<size_t>(j)];
    if (page < 0 || group.pool.refs(page) > 1) ++n;
  }
  return n;
}

bool KvCache::can_write(SequenceId id, SlotRange slots) const {
  return std::ranges::all_of(groups_, [&](const Group& group) {
    SlotRange needed = slots;
    needed.begin = std::max(slots.begin, group.lists[static_cast<size_t>(id)].first_valid);
    return pages_to_write(group, id, needed) <= group.pool.n_free();
  });
}

void KvCache::make_writable(int32_t group_index, SequenceId id, SlotRange slots) {
  if (slots.empty()) return;
  Group& group = groups_[static_cast<size_t>(group_index)];
  for (int32_t j = slots.begin / kSlots; j <= (slots.end - 1) / kSlots; ++j) {
    const int32_t old = group.lists[static_cast<size_t>(id)].pages[static_cast<size_t>(j)];
    if (old >= 0 && group.pool.refs(old) == 1) continue;
    const auto page = group.pool.take();
    BRISK_CHECK(page.has_value(), "room was checked before");
    if (old >= 0) {
      copy_page(group_index, old, *page);
      group.pool.give_back(old);
    }
    set_page(group, id, j, *page);
  }
}

void KvCache::copy_page(int32_t group, int32_t from, int32_t to) {
  for (const Layer& layer : layers_) {
    if (layer.group != group) continue;
    for (const TensorStorage* store : {&layer.k, &layer.v}) {
      const uint64_t bytes = bytes_of(store->dtype, static_cast<uint64_t>(store->shape[0]));
      store->buffer->copy(static_cast<uint64_t>(from) * bytes, static_cast<uint64_t>(to) * bytes, bytes);
    }
  }
}

std::optional<SequenceId> KvCache::first_without_room(std::span<const Demand> demands) const {
  std::vector<int64_t> needed(groups_.size(), 0);
  for (const Demand& demand : demands) {
    const int32_t n = size(demand.id);
    if (demand.n_tokens > options_.n_ctx - n) return demand.id;
    for (size_t i = 0; i < groups_.size(); ++i) {
      // A windowed group has room for every sequence's window and one batch by construction.
      if (groups_[i].window > 0) continue;
      needed[i] += pages_to_write(groups_[i], demand.id, {n, n + demand.n_tokens});
      if (needed[i] > groups_[i].pool.n_free()) return demand.id;
    }
  }
  return std::nullopt;
}

bool KvCache::append(SequenceId id, std::span<const int32_t> positions) {
  auto& present = positions_of(id);
  const int32_t begin = size(id);
  if (positions.size() > static_cast<size_t>(options_.n_ctx - begin)) return false;
  const SlotRange slots{begin, begin + static_cast<int32_t>(positions.size())};
  if (!can_write(id, slots)) return false;
  for (int32_t i = 0; i < n_groups(); ++i) make_writable(i, id, slots);
  present.insert(present.end(), positions.begin(), positions.end());
  return true;
}

void KvCache::truncate(SequenceId id, int32_t n) {
  auto& positions = positions_of(id);
  BRISK_CHECK(n >= 0 && n <= size(id), "a cut lies inside the sequence");
  positions.resize(static_cast<size_t>(n));
  for (Group& group : groups_) {
    PageList& list = group.lists[static_cast<size_t>(id)];
    for (int32_t j = pages_of(n); j < static_cast<int32_t>(list.pages.size()); ++j) {
      const int32_t page = list.pages[static_cast<size_t>(j)];
      if (page < 0) continue;
      group.pool.give_back(page);
      set_page(group, id, j, -1);
    }
    if (n == 0) list.first_valid = 0;
  }
}

void KvCache::release_behind(SequenceId id) {
  const int32_t n = size(id);
  for (Group& group : groups_) {
    if (group.window == 0) continue;
    PageList& list = group.lists[static_cast<size_t>(id)];
    const int64_t keep_from = int64_t{n} - group.window - kRollback;
    for (int32_t j = list.first_valid / kSlots; int64_t{j + 1} * kSlots <= keep_from; ++j) {
      list.first_valid = (j + 1) * kSlots;
      const int32_t page = list.pages[static_cast<size_t>(j)];
      if (page < 0) continue;
      group.pool.give_back(page);
      set_page(group, id, j, -1);
    }
  }
}

// ---- operations on sequences

void KvCache::clear(SequenceId id) { truncate(id, 0); }

void KvCache::clear_all() {
  for (SequenceId id = 0; id < options_.n_seq_max; ++id) clear(id);
}

void KvCache::keep(SequenceId id) {
  static_cast<void>(checked(id));
  for (SequenceId other = 0; other < options_.n_seq_max; ++other) {
    if (other != id) clear(other);
  }
}

bool KvCache::remove(SequenceId id, int32_t p0, int32_t p1) {
  const SlotRange gap = slots_in(id, p0, p1);
  if (gap.empty()) return true;
  if (gap.end < size(id)) return close_gap(id, gap);
  if (gap.begin > 0 && !can_continue_at(id, gap.begin)) return false;
  truncate(id, gap.begin);
  return true;
}

bool KvCache::close_gap(SequenceId id, SlotRange gap) {
  const int32_t n = size(id);
  const int32_t length = gap.end - gap.begin;
  // A windowed layer may have freed pages that later tokens move into.
  const auto destination = [&](const Group& group) {
    const int32_t first_moved = std::max(gap.end, group.lists[static_cast<size_t>(id)].first_valid);
    return SlotRange{first_moved - length, n - length};
  };
  for (const Group& group : groups_) {
    if (pages_to_write(group, id, destination(group)) > group.pool.n_free()) return false;
  }
  std::vector<KvMove> moves;
  for (int32_t i = 0; i < n_groups(); ++i) {
    PageList& list = groups_[static_cast<size_t>(i)].lists[static_cast<size_t>(id)];
    const SlotRange to = destination(groups_[static_cast<size_t>(i)]);
    make_writable(i, id, to);
    moves.clear();
    for (int32_t slot = to.begin; slot < to.end; ++slot) moves.push_back({id, slot + length, id, slot, 0});
    mover_.move(i, moves);
    if (list.first_valid > gap.end) {
      list.first_valid -= length;
    } else {
      list.first_valid = std::min(list.first_valid, gap.begin);
    }
  }
  auto& positions = positions_of(id);
  positions.erase(positions.begin() + gap.begin, positions.begin() + gap.end);
  truncate(id, n - length);
  return true;
}

bool KvCache::copy(SequenceId from, SequenceId to, int32_t p0, int32_t p1) {
  const SlotRange slots = slots_in(from, p0, p1);
  static_cast<void>(checked(to));
  if (from == to) return true;
  if (slots.empty()) {
    clear(to);
    return true;
  }
  if (!can_continue_at(from, slots.end)) return false;
  if (slots.begin > 0) return copy_middle(from, to, slots);
  share_prefix(from, to, slots.end);
  return true;
}

void KvCache::share_prefix(SequenceId from, SequenceId to, int32_t n) {
  clear(to);
  for (Group& group : groups_) {
    const PageList& source = group.lists[static_cast<size_t>(from)];
    for (int32_t j = 0; j < pages_of(n); ++j) {
      const int32_t page = source.pages[static_cast<size_t>(j)];
      if (page < 0) continue;
      group.pool.share(page);
      set_page(group, to, j, page);
    }
    group.lists[static_cast<size_t>(to)].first_valid = source.first_valid;
  }
  const auto& positions = positions_of(from);
  positions_of(to).assign(positions.begin(), positions.begin() + n);
}

bool KvCache::copy_middle(SequenceId from, SequenceId to, SlotRange slots) {
  const auto& source = positions_of(from);
  const std::vector<int32_t> positions(source.begin() + slots.begin, source.begin() + slots.end);
  const auto n = static_cast<int32_t>(positions.size());
  const auto first_of = [&](const Group& group) {
    return std::max(slots.begin, group.lists[static_cast<size_t>(from)].first_valid) - slots.begin;
  };
  for (const Group& group : groups_) {
    const auto own = std::ranges::count_if(group.lists[static_cast<size_t>(to)].pages,
                                           [&](int32_t page) { return page >= 0 && group.pool.refs(page) == 1; });
    if (pages_of(n) - first_of(group) / kSlots > group.pool.n_free() + own) return false;
  }
  clear(to);
  std::vector<KvMove> moves;
  for (int32_t i = 0; i < n_groups(); ++i) {
    const int32_t first = first_of(groups_[static_cast<size_t>(i)]);
    make_writable(i, to, {first, n});
    moves.clear();
    for (int32_t slot = first; slot < n; ++slot) moves.push_back({from, slots.begin + slot, to, slot, 0});
    mover_.move(i, moves);
    groups_[static_cast<size_t>(i)].lists[static_cast<size_t>(to)].first_valid = first;
  }
  positions_of(to) = positions;
  return true;
}

bool KvCache::shift(SequenceId id, int32_t p0, int32_t p1, int32_t delta) {
  const SlotRange slots = slots_in(id, p0, p1);
  if (slots.empty() || delta == 0) return true;
  auto moved = positions_of(id);
  for (int32_t slot = slots.begin; slot < slots.end; ++slot) {
    const auto sum = checked_add(moved[static_cast<size_t>(slot)], delta);
    if (!sum) fail(ErrorCode::invalid_argument, "sequence {}: a shift by {} leaves the range of positions", id, delta);
    moved[static_cast<size_t>(slot)] = *sum;
  }
  return reposition(id, slots, moved);
}

bool KvCache::divide(SequenceId id, int32_t p0, int32_t p1, int32_t d) {
  if (d < 1) fail(ErrorCode::invalid_argument, "sequence {}: positions cannot be divided by {}", id, d);
  const SlotRange slots = slots_in(id, p0, p1);
  if (slots.empty() || d == 1) return true;
  auto divided = positions_of(id);
  for (int32_t slot = slots.begin; slot < slots.end; ++slot) divided[static_cast<size_t>(slot)] /= d;
  return reposition(id, slots, divided);
}

bool KvCache::reposition(SequenceId id, SlotRange slots, std::span<const int32_t> positions) {
  auto& present = positions_of(id);
  if (learned_positions_) {
    fail(ErrorCode::unsupported, "this model has learned positions, which cannot be shifted or divided");
  }
  if (positions[static_cast<size_t>(slots.begin)] < 0 || !std::ranges::is_sorted(positions)) {
    fail(ErrorCode::invalid_argument, "sequence {}: positions {}..{} would fall below 0 or overtake their neighbours",
         id, present[static_cast<size_t>(slots.begin)], present[static_cast<size_t>(slots.end) - 1]);
  }
  if (!can_write(id, slots)) return false;
  std::vector<KvMove> moves;
  for (int32_t i = 0; i < n_groups(); ++i) {
    const int32_t first =
        std::max(slots.begin, groups_[static_cast<size_t>(i)].lists[static_cast<size_t>(id)].first_valid);
    make_writable(i, id, {first, slots.end});
    moves.clear();
    for (int32_t slot = first; slot < slots.end; ++slot) {
      const auto s = static_cast<size_t>(slot);
      moves.push_back({id, slot, id, slot, positions[s] - present[s]});
    }
    mover_.move(i, moves);
  }
  present.assign(positions.begin(), positions.end());
  return true;
}

}  // namespace brisk::model
