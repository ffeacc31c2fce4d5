#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace brisk {

/// Tensor element types; the values are GGUF's type ids.
enum class DType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q8_1 = 9,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  q8_k = 15,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41,
  q2_0 = 42,
};

/// One row of the type table: everything that follows from a type's id.
struct DTypeTraits {
  DType dtype;
  std::string_view name;  ///< as the field prints it: "q4_K", "f16"
  uint32_t block_length;  ///< elements to a block, 1 for plain types
  uint32_t block_bytes;   ///< bytes to a block
  bool quantized;         ///< block format that the portable decoder expands to f32
};

/// All types, by id.
[[nodiscard]] std::span<const DTypeTraits> all_dtypes() noexcept;

/// nullptr for an id that is no type (also for the retired ones).
[[nodiscard]] const DTypeTraits* find_dtype(uint32_t id) noexcept;

/// Case-insensitive: "Q4_K", "q4_k". nullopt for an unknown name.
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name) noexcept;

[[nodiscard]] const DTypeTraits& traits(DType dtype) noexcept;

/// For error messages about an id that find_dtype() does not know: "type id 31 (q4_0_4_4), which was retired: take
/// ...".
[[nodiscard]] std::string describe_unknown_dtype(uint32_t id);

/// Bytes of `n` elements; n must be a multiple of the block length.
[[nodiscard]] constexpr uint64_t bytes_of(const DTypeTraits& type, uint64_t n) noexcept {
  return n / type.block_length * type.block_bytes;
}
[[nodiscard]] inline uint64_t bytes_of(DType dtype, uint64_t n) noexcept { return bytes_of(traits(dtype), n); }

}  // namespace brisk
