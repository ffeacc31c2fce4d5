#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace brisk::tokenizer {

inline constexpr int32_t kNoToken = -1;

/// The algorithms that turn text into tokens.
enum class KindId { spm, bpe, wpm, ugm, rwkv, plamo2, test, none };

/// Ids of tokens with a role; kNoToken where the vocabulary has none.
struct SpecialIds {
  int32_t bos = kNoToken;
  int32_t eos = kNoToken;
  int32_t eot = kNoToken;
  int32_t eom = kNoToken;
  int32_t unk = kNoToken;
  int32_t sep = kNoToken;
  int32_t pad = kNoToken;
  int32_t mask = kNoToken;
  int32_t nl = kNoToken;
  int32_t fim_pre = kNoToken;
  int32_t fim_suf = kNoToken;
  int32_t fim_mid = kNoToken;
  int32_t fim_pad = kNoToken;
  int32_t fim_rep = kNoToken;
  int32_t fim_sep = kNoToken;
  bool operator==(const SpecialIds&) const = default;
};

/// How text is framed; a kind has defaults, keys of the file and the pre-tokenizer change them.
struct TextRules {
  bool add_space_prefix = false;
  bool clean_spaces = false;       ///< detokenising drops spaces before punctuation
  bool escape_whitespace = false;  ///< spaces are U+2581 in token texts
  bool add_bos = false;
  bool add_eos = false;
  bool add_sep = false;
  bool operator==(const TextRules&) const = default;
};

/// One value of `tokenizer.ggml.model`.
struct KindRow {
  std::string_view model;
  KindId kind;
  std::string_view title;  ///< for people
  TextRules rules;
  SpecialIds defaults;
};

[[nodiscard]] std::span<const KindRow> kind_rows() noexcept;
/// nullptr when no kind has that name.
[[nodiscard]] const KindRow* find_kind(std::string_view model) noexcept;

}  // namespace brisk::tokenizer
