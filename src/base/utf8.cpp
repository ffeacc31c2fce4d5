#include "base/utf8.hpp"

#include <algorithm>

namespace brisk::utf8 {

namespace {

/// Length that the lead byte promises; 0 when it cannot lead. C0, C1 and F5.. never occur in UTF-8.
int promised_length(uint8_t lead) noexcept {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  if (lead < 0xF5) return 4;
  return 0;
}

/// Whether `byte` may stand at `index` (>= 1) behind `lead`: excludes overlong forms, surrogates and > U+10FFFF.
bool may_follow(uint8_t lead, int index, uint8_t byte) noexcept {
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (index == 1) {
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  }
  return byte >= low && byte <= high;
}

}  // namespace

Decoded decode(std::string_view text, size_t position) noexcept {
  const auto lead = static_cast<uint8_t>(text[position]);
  const int length = promised_length(lead);
  if (length == 1) return {lead, 1, true};
  if (length == 0 || position + static_cast<size_t>(length) > text.size()) return {lead, 1, false};
  uint32_t code_point = lead & (0x7Fu >> length);
  for (int i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[position + static_cast<size_t>(i)]);
    if (!may_follow(lead, i, byte)) return {lead, 1, false};
    code_point = code_point << 6 | (byte & 0x3Fu);
  }
  return {code_point, static_cast<uint8_t>(length), true};
}

void append(std::string& out, uint32_t code_point) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

size_t complete_prefix(std::string_view text) noexcept {
  const size_t reach = std::min<size_t>(text.size(), 3);
  for (size_t back = 1; back <= reach; ++back) {
    const size_t start = text.size() - back;
    const auto lead = static_cast<uint8_t>(text[start]);
    if ((lead & 0xC0) == 0x80) continue;
    const int length = promised_length(lead);
    if (length <= static_cast<int>(back)) return text.size();
    for (size_t i = 1; i < back; ++i) {
      if (!may_follow(lead, static_cast<int>(i), static_cast<uint8_t>(text[start + i]))) return text.size();
    }
    return start;
  }
  return text.size();
}

std::string sanitize(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Decoded point = decode(text, i);
    if (point.valid) {
      out.append(text, i, point.length);
    } else {
      append(out, 0xFFFD);
    }
    i += point.length;
  }
  return out;
}

}  // namespace brisk::utf8
