#include "gguf/value.hpp"

#include <cstring>

#include "base/error.hpp"

namespace brisk::gguf {

namespace {

struct TypeRow {
  std::string_view name;
  uint32_t size_bytes;  // 0: depends on the value
};

constexpr TypeRow kTypeRows[] = {{"u8", 1},   {"i8", 1},  {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
                                 {"bool", 1}, {"str", 0}, {"arr", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

template <typename T>
T load(std::span<const std::byte> bytes, uint64_t index) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

}  // namespace

std::string_view name_of(ValueType type) noexcept {
  const auto id = static_cast<uint32_t>(type);
  return id < std::size(kTypeRows) ? kTypeRows[id].name : "invalid";
}

uint32_t size_of(ValueType type) noexcept {
  const auto id = static_cast<uint32_t>(type);
  return id < std::size(kTypeRows) ? kTypeRows[id].size_bytes : 0;
}

bool is_value_type(uint32_t id) noexcept { return id < std::size(kTypeRows); }

int64_t Array::int_at(uint64_t i) const {
  BRISK_CHECK(i < count_, "the caller asks size() first");
  switch (element_) {
    case ValueType::u8:
      return load<uint8_t>(bytes_, i);
    case ValueType::i8:
      return load<int8_t>(bytes_, i);
    case ValueType::u16:
      return load<uint16_t>(bytes_, i);
    case ValueType::i16:
      return load<int16_t>(bytes_, i);
    case ValueType::u32:
      return load<uint32_t>(bytes_, i);
    case ValueType::i32:
      return load<int32_t>(bytes_, i);
    case ValueType::i64:
      return load<int64_t>(bytes_, i);
    case ValueType::boolean:
      return load<uint8_t>(bytes_, i) != 0 ? 1 : 0;
    case ValueType::u64: {
      const auto value = load<uint64_t>(bytes_, i);
      if (value > INT64_MAX) fail(ErrorCode::corrupt, "array element {} is {}, more than any count can be", i, value);
      return static_cast<int64_t>(value);
    }
    default:
      fail(ErrorCode::corrupt, "an array of {} was found where integers are needed", name_of(element_));
  }
}

double Array::float_at(uint64_t i) const {
  BRISK_CHECK(i < count_, "the caller asks size() first");
  if (element_ == ValueType::f32) return load<float>(bytes_, i);
  if (element_ == ValueType::f64) return load<double>(bytes_, i);
  fail(ErrorCode::corrupt, "an array of {} was found where floats are needed", name_of(element_));
}

}  // namespace brisk::gguf
