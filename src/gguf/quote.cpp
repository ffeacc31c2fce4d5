#include "gguf/quote.hpp"

#include "base/utf8.hpp"

namespace brisk::gguf {

std::string in_quotes(std::string_view text) {
  constexpr size_t kLimit = 80;
  const std::string_view shown = text.substr(0, kLimit);
  std::string out = "'";
  for (size_t i = 0; i < shown.size();) {
    const utf8::Decoded point = utf8::decode(shown, i);
    const bool control = point.code_point < 0x20 || (point.code_point >= 0x7F && point.code_point < 0xA0);
    if (point.valid && !control) {
      out.append(shown, i, point.length);
    } else {
      out += '?';
    }
    i += point.length;
  }
  out += text.size() > kLimit ? "...'" : "'";
  return out;
}

}  // namespace brisk::gguf
