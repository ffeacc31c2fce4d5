#pragma once

#include <span>
#include <string>
#include <string_view>

namespace brisk::tokenizer {

/// The split rules of BPE vocabularies. `stages` are applied in turn, each to the segments that the former left: a
/// match becomes a segment and so does the text between matches. A stage is a PCRE2 pattern with the macros of
/// pre_tokenizers.cpp, or one of the names below for rules that a regular expression could only do in quadratic time.
struct SplitRules {
  std::string_view name;
  std::span<const std::string_view> stages;
  std::span<const std::string_view> compat_stages;  ///< what llama.cpp uses instead; empty: the same
};

/// Cuts each run of decimal digits that no word character follows into a head of (length mod 3) digits and groups of 3.
inline constexpr std::string_view kStageDigitGroupsAtBoundary = "#digit-groups-at-boundary";
/// Cuts each run of numbers into a head of (length mod 3) and groups of 3.
inline constexpr std::string_view kStageDigitGroups = "#digit-groups";

/// One value of `tokenizer.ggml.pre`, with the vocabulary settings that follow from it.
struct PreTokenizer {
  std::string_view name;
  const SplitRules* rules;
  bool ignore_merges = false;  ///< a segment that is a token is taken whole
  bool add_bos = false;        ///< default of add_bos
  bool add_sep = false;        ///< default of add_sep
  bool clean_spaces = true;
  bool escape_spaces = false;  ///< spaces are U+2581 in token texts
  bool raw = false;            ///< symbols are characters, not bytes of GPT-2's alphabet
  bool no_default_bos = false;
  bool force_add_bos = false;  ///< whatever the file says
  bool optional_merges = false;
  bool nfc = false;                ///< the original tokenizer normalises text to NFC before it splits
  bool keep_newline_runs = false;  ///< a segment of newlines only is taken whole when it is a token
};

/// nullptr when brisk does not know the name.
[[nodiscard]] const PreTokenizer* find_pre_tokenizer(std::string_view name);
[[nodiscard]] std::span<const PreTokenizer> pre_tokenizers();

/// A stage's pattern with its macros written out.
[[nodiscard]] std::string expand_pattern(std::string_view stage);

}  // namespace brisk::tokenizer
