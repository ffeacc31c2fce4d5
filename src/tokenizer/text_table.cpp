#include "tokenizer/text_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace brisk::tokenizer {

namespace {

uint32_t hash_of(std::string_view text) noexcept {
  uint64_t state = text.size() * 0x9E3779B97F4A7C15u;
  const auto mix = [&state](uint64_t word) {
    state = (state ^ word) * 0xFF51AFD7ED558CCDu;
    state ^= state >> 32;
  };
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    mix(word);
  }
  uint64_t tail = 0;
  for (int shift = 0; i < text.size(); ++i, shift += 8) tail |= uint64_t{static_cast<uint8_t>(text[i])} << shift;
  mix(tail);
  return static_cast<uint32_t>(state ^ state >> 29);
}

}  // namespace

void TextTable::reserve(size_t texts, size_t bytes) {
  arena_.reserve(bytes);
  ends_.reserve(texts + 1);
  const size_t slots = std::bit_ceil(texts * 2 + 16);
  if (slots > slots_.size()) rehash(slots);
}

size_t TextTable::slot_of(std::string_view text, uint32_t hash) const noexcept {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.number_plus_one == 0) return i;
    if (slot.hash == hash && (*this)[slot.number_plus_one - 1] == text) return i;
  }
}

void TextTable::rehash(size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  const size_t mask = slots - 1;
  for (const Slot& slot : old) {
    if (slot.number_plus_one == 0) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].number_plus_one != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

uint32_t TextTable::intern(std::string_view text) {
  const uint32_t hash = hash_of(text);
  size_t slot = slot_of(text, hash);
  if (slots_[slot].number_plus_one != 0) return slots_[slot].number_plus_one - 1;
  if ((size() + 1) * 2 > slots_.size()) {
    rehash(slots_.size() * 2);
    slot = slot_of(text, hash);
  }
  arena_.append(text);
  ends_.push_back(arena_.size());
  longest_ = std::max(longest_, text.size());
  slots_[slot] = {hash, size()};
  return size() - 1;
}

std::optional<uint32_t> TextTable::find(std::string_view text) const noexcept {
  if (text.size() > longest_) return std::nullopt;
  const Slot& slot = slots_[slot_of(text, hash_of(text))];
  if (slot.number_plus_one == 0) return std::nullopt;
  return slot.number_plus_one - 1;
}

void MergeTable::reserve(size_t merges) {
  const size_t slots = std::bit_ceil(merges * 2 + 16);
  entries_.assign(slots, Entry{});
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
}

void MergeTable::add(uint32_t left, uint32_t right, uint32_t rank, uint32_t merged) {
  const uint64_t key = uint64_t{left} << 32 | right;
  size_t i = start(key);
  while (entries_[i & mask_].key != kEmpty) {
    if (entries_[i & mask_].key == key) return;
    ++i;
  }
  entries_[i & mask_] = {key, rank, merged};
}

}  // namespace brisk::tokenizer
