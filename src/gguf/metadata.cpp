#include "gguf/metadata.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.hpp"
#include "gguf/name_order.hpp"
#include "gguf/quote.hpp"

namespace brisk::gguf {

namespace {

const std::string& key_of(const Metadata::Entry& entry) { return entry.first; }

std::string describe(const Value& value) {
  if (const auto* array = std::get_if<Array>(&value.data)) {
    return fmt::format("{} array of {}", name_of(array->element_type()), array->size());
  }
  return std::string(name_of(value.type));
}

[[noreturn]] void fail_type(const Metadata& metadata, std::string_view key, const Value& value,
                            std::string_view wanted) {
  fail(ErrorCode::corrupt,
       "{}: key {} has type {}, but {} is needed; convert the model again or give it with --override-kv",
       metadata.file_name(), in_quotes(key), describe(value), wanted);
}

template <typename Number>
Number parse_number(const std::string& key, std::string_view type, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail(ErrorCode::invalid_argument, "override of {}: {} is not a value of type {}", in_quotes(key), in_quotes(text),
         type);
  }
  return value;
}

bool parse_bool(const std::string& key, std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  fail(ErrorCode::invalid_argument, "override of {}: {} is neither true nor false", in_quotes(key), in_quotes(text));
}

}  // namespace

Metadata::Metadata(std::string file_name, std::vector<Entry> entries)
    : file_name_(std::move(file_name)), entries_(std::move(entries)), by_key_(order_by_name(entries_, key_of)) {}

std::vector<uint32_t>::const_iterator Metadata::position(std::string_view key) const noexcept {
  return std::lower_bound(by_key_.begin(), by_key_.end(), key,
                          [this](uint32_t i, std::string_view wanted) { return entries_[i].first < wanted; });
}

const Value* Metadata::find(std::string_view key) const noexcept {
  const auto at = position(key);
  if (at == by_key_.end() || entries_[*at].first != key) return nullptr;
  return &entries_[*at].second;
}

Value* Metadata::find_mutable(std::string_view key) noexcept { return const_cast<Value*>(find(key)); }

bool Metadata::add(std::string key, Value value) {
  const auto at = position(key);
  if (at != by_key_.end() && entries_[*at].first == key) return false;
  by_key_.insert(at, static_cast<uint32_t>(entries_.size()));
  entries_.emplace_back(std::move(key), std::move(value));
  return true;
}

void Metadata::remove(std::string_view key) {
  const auto at = position(key);
  if (at == by_key_.end() || entries_[*at].first != key) return;
  entries_.erase(entries_.begin() + *at);
  by_key_ = order_by_name(entries_, key_of);
}

std::string_view Metadata::keep(std::string text) {
  owned_text_.push_back(std::make_unique<std::string>(std::move(text)));
  return *owned_text_.back();
}

void Metadata::override_with(const std::string& key, std::string_view type, std::string_view text) {
  if (key.empty()) fail(ErrorCode::invalid_argument, "an override needs a key: KEY=TYPE:VALUE");
  Value value{};
  if (type == "int") {
    value = {ValueType::i64, parse_number<int64_t>(key, type, text)};
  } else if (type == "float") {
    value = {ValueType::f64, parse_number<double>(key, type, text)};
  } else if (type == "bool") {
    value = {ValueType::boolean, parse_bool(key, text)};
  } else if (type == "str") {
    value = {ValueType::string, keep(std::string(text))};
  } else {
    fail(ErrorCode::invalid_argument, "override of {}: unknown type {}; known are int, float, bool and str",
         in_quotes(key), in_quotes(type));
  }
  if (Value* existing = find_mutable(key)) {
    *existing = value;
  } else {
    add(key, value);
  }
}

void Metadata::set(const std::string& key, Value value) {
  remove(key);
  add(key, std::move(value));
}

void Metadata::set_string(const std::string& key, std::string_view text) {
  set(key, {ValueType::string, keep(std::string(text))});
}

void Metadata::set_strings(const std::string& key, const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    const uint64_t length = text.size();
    packed.append(reinterpret_cast<const char*>(&length), sizeof length);
    packed += text;
  }
  const std::string_view kept = keep(std::move(packed));
  set(key, {ValueType::array, Array(ValueType::string, texts.size(), std::as_bytes(std::span(kept)))});
}

void Metadata::set_numbers(const std::string& key, ValueType element, std::span<const std::byte> elements) {
  BRISK_CHECK(size_of(element) != 0 && elements.size() % size_of(element) == 0, "whole elements of a fixed size");
  const std::string_view kept = keep(std::string(reinterpret_cast<const char*>(elements.data()), elements.size()));
  const uint64_t count = elements.size() / size_of(element);
  set(key, {ValueType::array, Array(element, count, std::as_bytes(std::span(kept)))});
}

std::optional<uint64_t> Metadata::get_uint(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<uint64_t>(&value->data)) return *number;
  const auto* number = std::get_if<int64_t>(&value->data);
  if (number == nullptr) fail_type(*this, key, *value, "an integer");
  if (*number < 0) {
    fail(ErrorCode::corrupt, "{}: key {} is {}, but it must not be negative", file_name_, in_quotes(key), *number);
  }
  return static_cast<uint64_t>(*number);
}

std::optional<int64_t> Metadata::get_int(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<int64_t>(&value->data)) return *number;
  const auto* number = std::get_if<uint64_t>(&value->data);
  if (number == nullptr) fail_type(*this, key, *value, "an integer");
  if (*number > INT64_MAX) {
    fail(ErrorCode::corrupt, "{}: key {} is {}, the greatest value allowed is {}", file_name_, in_quotes(key), *number,
         INT64_MAX);
  }
  return static_cast<int64_t>(*number);
}

std::optional<float> Metadata::get_float(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* number = std::get_if<double>(&value->data);
  if (number == nullptr) fail_type(*this, key, *value, "f32");
  return static_cast<float>(*number);
}

std::optional<bool> Metadata::get_bool(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* flag = std::get_if<bool>(&value->data);
  if (flag == nullptr) fail_type(*this, key, *value, "bool");
  return *flag;
}

std::optional<std::string_view> Metadata::get_string(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string_view>(&value->data);
  if (text == nullptr) fail_type(*this, key, *value, "str");
  return *text;
}

std::optional<Array> Metadata::get_array(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  const auto* array = std::get_if<Array>(&value->data);
  if (array == nullptr) fail_type(*this, key, *value, "an array");
  return *array;
}

std::optional<std::vector<std::string>> Metadata::get_strings(std::string_view key) const {
  const std::optional<Array> array = get_array(key);
  if (!array) return std::nullopt;
  if (array->element_type() != ValueType::string) fail_type(*this, key, *find(key), "an array of str");
  std::vector<std::string> out;
  out.reserve(array->size());
  array->for_each_string([&out](uint64_t, std::string_view text) { out.emplace_back(text); });
  return out;
}

std::optional<std::vector<int64_t>> Metadata::get_ints(std::string_view key) const {
  const std::optional<Array> array = get_array(key);
  if (!array) return std::nullopt;
  const ValueType element = array->element_type();
  const bool floating = element == ValueType::f32 || element == ValueType::f64;
  if (floating || element == ValueType::string) fail_type(*this, key, *find(key), "an array of integers");
  std::vector<int64_t> out(array->size());
  for (uint64_t i = 0; i < out.size(); ++i) out[i] = array->int_at(i);
  return out;
}

std::optional<std::vector<float>> Metadata::get_floats(std::string_view key) const {
  const std::optional<Array> array = get_array(key);
  if (!array) return std::nullopt;
  const ValueType element = array->element_type();
  if (element != ValueType::f32 && element != ValueType::f64) fail_type(*this, key, *find(key), "an array of f32");
  std::vector<float> out(array->size());
  for (uint64_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(array->float_at(i));
  return out;
}

}  // namespace brisk::gguf
