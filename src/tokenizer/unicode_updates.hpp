#pragma once

#include <cstdint>

namespace brisk::tokenizer {

/// PCRE2 10.42 knows Unicode 14; brisk splits text by Unicode 16. A code point that versions 15.0 to 16.0 added gives
/// an older one of the same general category and the same length in UTF-8, to be put before a pattern in its place; any
/// other gives itself.
[[nodiscard]] uint32_t classified_like(uint32_t code_point) noexcept;

}  // namespace brisk::tokenizer
