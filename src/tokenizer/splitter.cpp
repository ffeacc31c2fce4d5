#include "tokenizer/splitter.hpp"

#include <utf8proc.h>

#include <optional>
#include <string>

#include "base/utf8.hpp"
#include "tokenizer/unicode_updates.hpp"

namespace brisk::tokenizer {

namespace {

using Ends = std::vector<uint32_t>;

constexpr uint32_t kReplacement = 0xFFFD;

void cut_by_regex(Regex::Matcher& matcher, std::string_view text, uint32_t offset, Ends& out) {
  const auto end_at = [&](size_t position) { out.push_back(offset + static_cast<uint32_t>(position)); };
  size_t done = 0;
  size_t from = 0;
  while (from < text.size()) {
    const auto match = matcher.find(text, from);
    if (!match) break;
    if (match->end == match->begin) {
      from = match->end + utf8::decode(text, match->end).length;
      continue;
    }
    if (match->begin > done) end_at(match->begin);
    end_at(match->end);
    done = from = match->end;
  }
  if (done < text.size()) end_at(text.size());
}

bool is_number(uint32_t code_point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool is_decimal(uint32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point)) == UTF8PROC_CATEGORY_ND;
}

/// What a regular expression's \w holds: letters, marks, numbers, connectors.
bool is_word(uint32_t code_point) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO) || category == UTF8PROC_CATEGORY_PC;
}

/// Ends behind the digits of one run: a head of (length mod 3), then groups of 3. `starts` are the digits' positions.
void end_groups(const Ends& starts, uint32_t run_end, Ends& out) {
  const size_t head = starts.size() % 3;
  for (size_t i = head == 0 ? 3 : head; i < starts.size(); i += 3) out.push_back(starts[i]);
  out.push_back(run_end);
}

void cut_digit_groups(std::string_view text, uint32_t offset, bool at_boundary, Ends& out) {
  const auto at = [&](size_t position) { return offset + static_cast<uint32_t>(position); };
  Ends starts;
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t run_begin = i;
    utf8::Decoded point{};
    starts.clear();
    for (; i < text.size(); i += point.length) {
      point = utf8::decode(text, i);
      if (!(at_boundary ? is_decimal(point.code_point) : is_number(point.code_point))) break;
      starts.push_back(at(i));
    }
    const bool wanted = !starts.empty() && (!at_boundary || i == text.size() || !is_word(point.code_point));
    if (wanted) {
      if (run_begin > done) out.push_back(at(run_begin));
      end_groups(starts, at(i), out);
      done = i;
    }
    if (i < text.size()) i += point.length;
  }
  if (done < text.size()) out.push_back(at(text.size()));
}

/// The text as patterns shall see it: every invalid byte as U+FFFD, code points too new for PCRE2 as older ones of
/// their class. Empty when the text can be used as it is.
std::string readable_copy(std::string_view text) {
  bool differs = false;
  for (size_t i = 0; i < text.size() && !differs;) {
    if (static_cast<uint8_t>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const utf8::Decoded point = utf8::decode(text, i);
    differs = !point.valid || classified_like(point.code_point) != point.code_point;
    i += point.length;
  }
  if (!differs) return {};
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (size_t i = 0; i < text.size();) {
    const utf8::Decoded point = utf8::decode(text, i);
    utf8::append(out, point.valid ? classified_like(point.code_point) : kReplacement);
    i += point.length;
  }
  return out;
}

/// The segment ends of a readable copy, moved back to the text itself.
void map_back(std::string_view text, Ends& ends) {
  size_t original = 0;
  size_t copied = 0;
  for (uint32_t& end : ends) {
    while (copied < end) {
      const utf8::Decoded point = utf8::decode(text, original);
      original += point.length;
      copied += point.valid ? point.length : 3u;
    }
    end = static_cast<uint32_t>(original);
  }
}

}  // namespace

Splitter::Splitter(const SplitRules& rules, bool llama_cpp_compat) {
  const auto& stages = llama_cpp_compat && !rules.compat_stages.empty() ? rules.compat_stages : rules.stages;
  for (const std::string_view stage : stages) {
    if (stage == kStageDigitGroups) {
      stages_.push_back({StageKind::digit_groups, -1});
    } else if (stage == kStageDigitGroupsAtBoundary) {
      stages_.push_back({StageKind::digit_groups_at_boundary, -1});
    } else {
      stages_.push_back({StageKind::regex, static_cast<int>(regexes_.size())});
      regexes_.emplace_back(expand_pattern(stage));
    }
  }
}

std::vector<uint32_t> Splitter::split_valid(std::string_view text) const {
  Ends ends{static_cast<uint32_t>(text.size())};
  Ends next;
  for (const Stage& stage : stages_) {
    next.clear();
    uint32_t begin = 0;
    std::optional<Regex::Matcher> matcher;
    if (stage.kind == StageKind::regex) matcher.emplace(regexes_[static_cast<size_t>(stage.regex)]);
    for (const uint32_t end : ends) {
      const std::string_view segment = text.substr(begin, end - begin);
      if (matcher) {
        cut_by_regex(*matcher, segment, begin, next);
      } else {
        cut_digit_groups(segment, begin, stage.kind == StageKind::digit_groups_at_boundary, next);
      }
      begin = end;
    }
    ends.swap(next);
  }
  return ends;
}

std::vector<uint32_t> Splitter::split(std::string_view text) const {
  if (text.empty()) return {};
  const std::string copy = readable_copy(text);
  if (copy.empty()) return split_valid(text);
  Ends ends = split_valid(copy);
  map_back(text, ends);
  return ends;
}

}  // namespace brisk::tokenizer
