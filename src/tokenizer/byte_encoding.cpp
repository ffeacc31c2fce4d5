#include "tokenizer/byte_encoding.hpp"

#include "base/error.hpp"
#include "base/utf8.hpp"

namespace brisk::tokenizer {

namespace {

constexpr uint32_t kFirstMoved = 0x100;
constexpr uint32_t kMovedCount = 68;

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

struct ByteAlphabet {
  char text[256][2] = {};
  uint8_t length[256] = {};
  uint8_t moved[kMovedCount] = {};

  constexpr ByteAlphabet() {
    uint32_t next_moved = 0;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t code_point = byte;
      if (!stands_for_itself(byte)) {
        moved[next_moved] = static_cast<uint8_t>(byte);
        code_point = kFirstMoved + next_moved++;
      }
      if (code_point < 0x80) {
        text[byte][0] = static_cast<char>(code_point);
        length[byte] = 1;
      } else {
        text[byte][0] = static_cast<char>(0xC0 | code_point >> 6);
        text[byte][1] = static_cast<char>(0x80 | (code_point & 0x3F));
        length[byte] = 2;
      }
    }
  }
};

constexpr ByteAlphabet kAlphabet;

}  // namespace

std::string_view encoded_byte(uint8_t byte) noexcept { return {kAlphabet.text[byte], kAlphabet.length[byte]}; }

std::optional<uint8_t> decoded_byte(uint32_t code_point) noexcept {
  if (code_point < kFirstMoved && stands_for_itself(code_point)) return static_cast<uint8_t>(code_point);
  if (code_point >= kFirstMoved && code_point < kFirstMoved + kMovedCount)
    return kAlphabet.moved[code_point - kFirstMoved];
  return std::nullopt;
}

void append_encoded(std::string& out, std::string_view bytes) {
  for (const char c : bytes) out.append(encoded_byte(static_cast<uint8_t>(c)));
}

std::string decode_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const utf8::Decoded point = utf8::decode(text, i);
    const auto byte = point.valid ? decoded_byte(point.code_point) : std::nullopt;
    if (byte) {
      out.push_back(static_cast<char>(*byte));
    } else {
      out += "[UNK_BYTE_0x";
      for (size_t k = i; k < i + point.length; ++k) out += fmt::format("{:02x}", static_cast<uint8_t>(text[k]));
      out.append(text).push_back(']');
    }
    i += point.length;
  }
  return out;
}

}  // namespace brisk::tokenizer
