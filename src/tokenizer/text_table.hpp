#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::tokenizer {

/// Numbered texts in one arena, with look-up by text. Numbers are given in the order of insertion. Look-ups are
/// thread-safe once filling has ended.
class TextTable {
 public:
  void reserve(size_t texts, size_t bytes);

  /// The number of `text`, which is added when new.
  uint32_t intern(std::string_view text);
  [[nodiscard]] std::optional<uint32_t> find(std::string_view text) const noexcept;
  [[nodiscard]] std::string_view operator[](uint32_t number) const noexcept {
    return std::string_view(arena_).substr(ends_[number], ends_[number + 1] - ends_[number]);
  }
  [[nodiscard]] uint32_t size() const noexcept { return static_cast<uint32_t>(ends_.size() - 1); }
  [[nodiscard]] size_t longest() const noexcept { return longest_; }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number_plus_one = 0;
  };

  [[nodiscard]] size_t slot_of(std::string_view text, uint32_t hash) const noexcept;
  void rehash(size_t slots);

  std::string arena_;
  std::vector<uint64_t> ends_{0};
  std::vector<Slot> slots_{std::vector<Slot>(64)};
  size_t longest_ = 0;
};

/// The pairs of a merge list: (left, right) -> rank and merged text, all as numbers of a TextTable.
class MergeTable {
 public:
  struct Entry {
    uint64_t key = kEmpty;
    uint32_t rank = 0;
    uint32_t merged = 0;
  };

  void reserve(size_t merges);
  /// The first rank of a pair wins.
  void add(uint32_t left, uint32_t right, uint32_t rank, uint32_t merged);
  [[nodiscard]] const Entry* find(uint32_t left, uint32_t right) const noexcept {
    const uint64_t key = uint64_t{left} << 32 | right;
    for (size_t i = start(key);; ++i) {
      const Entry& entry = entries_[i & mask_];
      if (entry.key == key) return &entry;
      if (entry.key == kEmpty) return nullptr;
    }
  }

 private:
  static constexpr uint64_t kEmpty = UINT64_MAX;

  [[nodiscard]] size_t start(uint64_t key) const noexcept { return (key * 0x9E3779B97F4A7C15u) >> shift_; }

  std::vector<Entry> entries_{std::vector<Entry>(16)};
  size_t mask_ = 15;
  int shift_ = 60;
};

}  // namespace brisk::tokenizer
