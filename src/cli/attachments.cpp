#include "cli/attachments.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace brisk::cli {
namespace {

namespace fs = std::filesystem;

// One bracket expression at the start of `pattern` against `c`; its length goes to `length`, 0 when it is not closed.
bool matches_set(std::string_view pattern, char c, size_t& length) {
  const size_t close = pattern.find(']', 2);
  length = close == std::string_view::npos ? 0 : close + 1;
  if (length == 0) return false;
  const bool negated = pattern[1] == '!' || pattern[1] == '^';
  bool hit = false;
  for (size_t i = negated ? 2 : 1; i < close; ++i) {
    const bool range = i + 2 < close && pattern[i + 1] == '-';
    const char last = range ? pattern[i + 2] : pattern[i];
    hit = hit || (c >= pattern[i] && c <= last);
    if (range) i += 2;
  }
  return hit != negated;
}

// Remembers the last star of each kind and goes back there on a mismatch: no recursion, at most length x length steps.
class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  bool run() {
    while (t_ < text_.size()) {
      if (step()) continue;
      if (!go_back()) return false;
    }
    while (p_ < pattern_.size() && pattern_[p_] == '*') ++p_;
    return p_ == pattern_.size();
  }

 private:
  bool step() {
    if (p_ == pattern_.size()) return false;
    const char c = pattern_[p_];
    if (c == '*') {
      const bool over_folders = pattern_.substr(p_).starts_with("**");
      p_ += over_folders ? 2 : 1;
      // "**/" also stands for no folder at all.
      if (over_folders && p_ < pattern_.size() && pattern_[p_] == '/') ++p_;
      (over_folders ? deep_ : flat_) = {p_, t_, true};
      if (over_folders) flat_.set = false;
      return true;
    }
    size_t length = 1;
    bool hit = c == text_[t_];
    if (c == '?') hit = text_[t_] != '/';
    if (c == '[') {
      const bool in_set = matches_set(pattern_.substr(p_), text_[t_], length);
      hit = length > 0 ? in_set && text_[t_] != '/' : text_[t_] == '[';
      length = std::max<size_t>(length, 1);
    }
    if (!hit) return false;
    p_ += length;
    ++t_;
    return true;
  }

  bool go_back() {
    if (flat_.set && text_[flat_.text] != '/') return resume(flat_);
    flat_.set = false;
    return deep_.set && resume(deep_);
  }

  struct Star {
    size_t pattern = 0;
    size_t text = 0;
    bool set = false;
  };

  bool resume(Star& star) {
    ++star.text;
    p_ = star.pattern;
    t_ = star.text;
    return true;
  }

  std::string_view pattern_;
  std::string_view text_;
  size_t p_ = 0;
  size_t t_ = 0;
  Star flat_;
  Star deep_;
};

std::string expand_home(const std::string& pattern) {
  const char* home = std::getenv("HOME");
  if (home != nullptr && (pattern == "~" || pattern.starts_with("~/"))) return home + pattern.substr(1);
  return pattern;
}

}  // namespace

std::optional<std::string> attachment(const std::string& name) {
  try {
    if (fs::is_directory(name)) return std::nullopt;
    return fmt::format("--- File: {} ---\n{}", name, read_text_file(name));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::string> glob(const std::string& pattern, size_t limit) {
  const std::string wanted = expand_home(pattern);
  // Folders before the first wildcard need no search.
  const size_t wild = std::min(wanted.find_first_of("*?["), wanted.size());
  const size_t slash = wanted.rfind('/', wild);
  const fs::path root = slash == std::string::npos ? fs::path(".") : fs::path(wanted.substr(0, slash + 1));
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::string name = it->path().string();
    if (slash == std::string::npos && name.starts_with("./")) name.erase(0, 2);
    if (it->is_regular_file(error) && Matcher(wanted, name).run()) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace brisk::cli
