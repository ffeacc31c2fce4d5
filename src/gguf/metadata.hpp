#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gguf/value.hpp"

namespace brisk::gguf {

/// The key-value pairs of a file in file order, with typed look-up. A getter returns nullopt when the key is absent and
/// throws Error (corrupt; names file, key, type found and type wanted) when the value has another type. Any integer
/// type that holds the value is accepted for an integer.
class Metadata {
 public:
  using Entry = std::pair<std::string, Value>;

  explicit Metadata(std::string file_name = {}) : file_name_(std::move(file_name)) {}
  /// Takes pairs in file order; of equal keys the first counts.
  Metadata(std::string file_name, std::vector<Entry> entries);

  /// False when the key exists already.
  bool add(std::string key, Value value);
  /// Replaces or adds (command-line overrides: key=int:1, float:, bool:, str:). The text is copied.
  void override_with(const std::string& key, std::string_view type, std::string_view text);

  /// For files that are made here. A key that exists is taken out first, so it moves to the end as in other writers;
  /// text and elements are copied.
  void set(const std::string& key, Value value);
  void set_string(const std::string& key, std::string_view text);
  void set_strings(const std::string& key, const std::vector<std::string>& texts);
  void set_numbers(const std::string& key, ValueType element, std::span<const std::byte> elements);
  void remove(std::string_view key);

  [[nodiscard]] const Value* find(std::string_view key) const noexcept;
  [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] const std::string& file_name() const noexcept { return file_name_; }

  [[nodiscard]] std::optional<uint64_t> get_uint(std::string_view key) const;
  [[nodiscard]] std::optional<int64_t> get_int(std::string_view key) const;
  [[nodiscard]] std::optional<float> get_float(std::string_view key) const;
  [[nodiscard]] std::optional<bool> get_bool(std::string_view key) const;
  [[nodiscard]] std::optional<std::string_view> get_string(std::string_view key) const;
  [[nodiscard]] std::optional<Array> get_array(std::string_view key) const;
  /// A string array, copied. / An array of integers, widened. / An array of floats.
  [[nodiscard]] std::optional<std::vector<std::string>> get_strings(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<int64_t>> get_ints(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<float>> get_floats(std::string_view key) const;

 private:
  /// Where `key` stands or would stand in by_key_.
  [[nodiscard]] std::vector<uint32_t>::const_iterator position(std::string_view key) const noexcept;
  Value* find_mutable(std::string_view key) noexcept;
  std::string_view keep(std::string text);

  std::string file_name_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_key_;  ///< indices of entries_ in the order of their keys: 4 bytes a pair, a tree takes 70
  std::vector<std::unique_ptr<std::string>> owned_text_;
};

}  // namespace brisk::gguf
