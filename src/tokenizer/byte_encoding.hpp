#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace brisk::tokenizer {

/// GPT-2's byte alphabet: every byte is written as one printable code point, so that a vocabulary file is text. Bytes
/// 21-7E, A1-AC, AE-FF stand for themselves, the other 68 take U+0100, U+0101, ... in order.
[[nodiscard]] std::string_view encoded_byte(uint8_t byte) noexcept;
[[nodiscard]] std::optional<uint8_t> decoded_byte(uint32_t code_point) noexcept;

/// Appends `bytes` in that alphabet.
void append_encoded(std::string& out, std::string_view bytes);
/// The bytes of an encoded text. A code point outside the alphabet gives `[UNK_BYTE_0x<its bytes in hex><text>]`.
[[nodiscard]] std::string decode_bytes(std::string_view text);

}  // namespace brisk::tokenizer
