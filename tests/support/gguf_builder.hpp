#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::test {

/// GGUF's ids of value types, for raw pairs.
enum GgufType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kStr, kArr, kU64, kI64, kF64 };

/// Little-endian bytes of a number, and a string with its length before it.
template <typename T>
std::string le(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
inline std::string sized(std::string_view text) { return le<uint64_t>(text.size()) + std::string(text); }

/// Builds the bytes of a GGUF file. Every field is right unless it is set otherwise: what is std::optional is computed
/// when empty and written as given when set.
class GgufBuilder {
 public:
  struct Pair {
    std::string key;
    uint32_t type;
    std::string value;  ///< the bytes behind the type
    std::optional<uint64_t> key_length = std::nullopt;
  };
  struct Tensor {
    std::string name;
    std::vector<int64_t> dims;
    uint32_t type = 0;
    std::string data = {};
    std::optional<uint64_t> offset = std::nullopt;
    std::optional<uint64_t> name_length = std::nullopt;
    std::optional<uint32_t> n_dims = std::nullopt;
  };

  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t alignment = 32;  ///< of the layout; the key is added by u32("general.alignment", ...)
  std::optional<uint64_t> n_tensors;
  std::optional<uint64_t> n_pairs;
  bool pad_header = true;
  std::vector<Pair> pairs;
  std::vector<Tensor> tensors;

  GgufBuilder& raw(std::string key, uint32_t type, std::string value);
  GgufBuilder& u16(std::string key, uint16_t value) { return raw(std::move(key), kU16, le(value)); }
  GgufBuilder& u32(std::string key, uint32_t value) { return raw(std::move(key), kU32, le(value)); }
  GgufBuilder& i32(std::string key, int32_t value) { return raw(std::move(key), kI32, le(value)); }
  GgufBuilder& f32(std::string key, float value) { return raw(std::move(key), kF32, le(value)); }
  GgufBuilder& boolean(std::string key, bool value) { return raw(std::move(key), kBool, le<uint8_t>(value)); }
  GgufBuilder& str(std::string key, std::string_view value) { return raw(std::move(key), kStr, sized(value)); }
  GgufBuilder& strings(std::string key, const std::vector<std::string>& values);
  template <typename T>
  GgufBuilder& numbers(std::string key, uint32_t element, const std::vector<T>& values) {
    std::string bytes = le(element) + le<uint64_t>(values.size());
    for (const T value : values) bytes += le(value);
    return raw(std::move(key), kArr, bytes);
  }

  GgufBuilder& tensor(Tensor tensor);
  /// f32 values 0, 1, 2, ... of a shape.
  GgufBuilder& f32_tensor(std::string name, std::vector<int64_t> dims);

  [[nodiscard]] std::string build() const;
};

/// A valid file of about 6 KB with all value types, arrays, and tensors of several types: the seed of hostile tests.
GgufBuilder small_valid_gguf();

}  // namespace brisk::test
