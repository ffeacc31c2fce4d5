#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brisk::utf8 {

/// One decoded code point. `valid` is false for a byte that starts no well-formed sequence (Unicode 15, table 3-7);
/// then length is 1 and code_point is the byte.
struct Decoded {
  uint32_t code_point;
  uint8_t length;
  bool valid;
};

/// Decodes at `position` (< text.size()).
[[nodiscard]] Decoded decode(std::string_view text, size_t position) noexcept;

/// Appends the UTF-8 form of a scalar value.
void append(std::string& out, uint32_t code_point);

/// Length of the longest prefix of `text` that does not end inside a sequence which later bytes could still complete.
/// Invalid bytes count as complete.
[[nodiscard]] size_t complete_prefix(std::string_view text) noexcept;

/// `text` with every invalid byte replaced by U+FFFD.
[[nodiscard]] std::string sanitize(std::string_view text);

}  // namespace brisk::utf8
