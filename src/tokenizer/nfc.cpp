#include "tokenizer/nfc.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/utf8.hpp"

namespace brisk::tokenizer {

namespace {

constexpr uint32_t kFirstCombining = 0x300;
constexpr char kFirstLeadByte = static_cast<char>(0xCC);  // of U+0300
constexpr uint16_t kNoIndex = UINT16_MAX;
constexpr uint16_t kSecondOfPair = 0x8000;  // in utf8proc's comb_index: the code point composes with one before it

bool is_joining_jamo(uint32_t cp) { return (cp >= 0x1161 && cp <= 0x1175) || (cp >= 0x11A8 && cp <= 0x11C2); }

/// Whether normalisation may change a text that holds this code point (it errs on the side of yes).
bool may_change(uint32_t cp) {
  if (cp < kFirstCombining) return false;
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(cp));
  if (property->combining_class != 0 || is_joining_jamo(cp)) return true;
  const bool decomposes = property->decomp_seqindex != kNoIndex && property->decomp_type == 0;
  const bool joins = property->comb_index != kNoIndex && property->comb_index >= kSecondOfPair;
  return decomposes || joins;
}

int combining_class(utf8proc_int32_t cp) { return utf8proc_get_property(cp)->combining_class; }

/// Normalises the code points and appends them. utf8proc orders marks by insertion, which is quadratic in a long run of
/// them, so they are put in order here first.
void append_composed(std::vector<utf8proc_int32_t>& points, std::string& out) {
  for (size_t i = 0; i < points.size();) {
    if (combining_class(points[i]) == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < points.size() && combining_class(points[end]) != 0) ++end;
    std::stable_sort(points.begin() + static_cast<ptrdiff_t>(i), points.begin() + static_cast<ptrdiff_t>(end),
                     [](utf8proc_int32_t a, utf8proc_int32_t b) { return combining_class(a) < combining_class(b); });
    i = end;
  }
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const utf8proc_ssize_t length =
      utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  BRISK_CHECK(length >= 0, "composition of decomposed code points cannot fail");
  for (utf8proc_ssize_t i = 0; i < length; ++i)
    utf8::append(out, static_cast<uint32_t>(points[static_cast<size_t>(i)]));
  points.clear();
}

void append_decomposed(uint32_t cp, std::vector<utf8proc_int32_t>& points) {
  utf8proc_int32_t parts[8];
  int boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE);
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(cp), parts, std::size(parts), options, &boundary);
  BRISK_CHECK(count >= 0 && count <= 8, "a canonical decomposition has at most 4 code points");
  points.insert(points.end(), parts, parts + count);
}

}  // namespace

bool needs_nfc(std::string_view text) noexcept {
  const auto is_high = [](char c) {
    return static_cast<unsigned char>(c) >= static_cast<unsigned char>(kFirstLeadByte);
  };
  for (size_t i = 0; i < text.size();) {
    if (!is_high(text[i])) {
      ++i;
      continue;
    }
    const utf8::Decoded point = utf8::decode(text, i);
    if (point.valid && may_change(point.code_point)) return true;
    i += point.length;
  }
  return false;
}

std::string to_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> points;
  for (size_t i = 0; i < text.size();) {
    const utf8::Decoded point = utf8::decode(text, i);
    if (point.valid) {
      append_decomposed(point.code_point, points);
    } else {
      append_composed(points, out);
      out.push_back(text[i]);
    }
    i += point.length;
  }
  append_composed(points, out);
  return out;
}

}  // namespace brisk::tokenizer
