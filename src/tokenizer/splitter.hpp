#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/pre_tokenizers.hpp"
#include "tokenizer/regex.hpp"

namespace brisk::tokenizer {

/// Cuts text into the segments that byte-pair merges never cross. Immutable and thread-safe; linear in the text.
class Splitter {
 public:
  explicit Splitter(const SplitRules& rules, bool llama_cpp_compat = false);

  /// Ends of the segments of `text` (any bytes), ascending, the last is text.size(); empty for an empty text. An
  /// invalid byte counts as U+FFFD. A text must be shorter than 4 GiB.
  [[nodiscard]] std::vector<uint32_t> split(std::string_view text) const;

 private:
  enum class StageKind { regex, digit_groups, digit_groups_at_boundary };
  struct Stage {
    StageKind kind;
    int regex;  ///< index into regexes_, for regex stages
  };

  [[nodiscard]] std::vector<uint32_t> split_valid(std::string_view text) const;

  std::vector<Stage> stages_;
  std::vector<Regex> regexes_;
};

}  // namespace brisk::tokenizer
