#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/value.hpp"

namespace brisk::gguf {

/// The key-value pairs of a file in file order, with typed look-up. A getter returns nullopt when the key is absent and
/// throws Error (corrupt; names file, key, type found and type wanted) when the value has another type. Any integer type
/// that holds the value is accepted for an integer.
class Metadata {
 public:
  explicit Metadata(std::string file_name = {}) : file_name_(std::move(file_name)) {}

  /// False when the key exists already.
  bool add(std::string key, Value value);
  /// Replaces or adds (command-line overrides: key=int:1, float:, bool:, str:). The text is copied.
  void override_with(const std::string& key, std::string_view type, std::string_view text);

  [[nodiscard]] const Value* find(std::string_view key) const noexcept;
  [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& entries() const noexcept { return entries_; }
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
  std::string file_name_;
  std::vector<std::pair<std::string, Value>> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  std::vector<std::unique_ptr<std::string>> owned_text_;
};

}  // namespace brisk::gguf
