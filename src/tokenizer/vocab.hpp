#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"
#include "tokenizer/kinds.hpp"
#include "tokenizer/pre_tokenizers.hpp"
#include "tokenizer/text_table.hpp"

namespace brisk::tokenizer {

/// What a token is, as a set of bits.
namespace attribute {
inline constexpr uint16_t unknown = 1;
inline constexpr uint16_t unused = 2;
inline constexpr uint16_t normal = 4;
inline constexpr uint16_t control = 8;
inline constexpr uint16_t user_defined = 16;
inline constexpr uint16_t byte = 32;
inline constexpr uint16_t normalized = 64;
inline constexpr uint16_t lstrip = 128;
inline constexpr uint16_t rstrip = 256;
inline constexpr uint16_t single_word = 512;
}  // namespace attribute

/// The tokens of a model: texts, scores, attributes, ids with a role. Immutable once loaded; does not keep the file.
class Vocab {
 public:
  /// Errors: corrupt (missing or contradictory keys), unsupported (an unknown kind or pre-tokenizer).
  static Vocab load(const gguf::Metadata& metadata);

  [[nodiscard]] int32_t n_tokens() const noexcept { return n_tokens_; }
  [[nodiscard]] bool is_valid(int32_t id) const noexcept { return id >= 0 && id < n_tokens_; }
  /// The text as the file has it. `id` must be valid, here and below.
  [[nodiscard]] std::string_view text(int32_t id) const noexcept { return texts_[static_cast<uint32_t>(id)]; }
  [[nodiscard]] float score(int32_t id) const noexcept;
  [[nodiscard]] uint16_t attributes(int32_t id) const noexcept { return attributes_[static_cast<size_t>(id)]; }
  [[nodiscard]] bool has(int32_t id, uint16_t mask) const noexcept { return (attributes(id) & mask) != 0; }
  [[nodiscard]] bool is_control(int32_t id) const noexcept { return is_valid(id) && has(id, attribute::control); }
  /// Generation ends with this token.
  [[nodiscard]] bool is_eog(int32_t id) const noexcept;
  [[nodiscard]] const std::vector<int32_t>& eog_ids() const noexcept { return eog_ids_; }  ///< ascending
  [[nodiscard]] std::optional<int32_t> find(std::string_view text) const noexcept;
  /// The token that stands for one raw byte: `<0xHH>`, else a token whose text is that byte.
  [[nodiscard]] int32_t byte_token(uint8_t byte) const noexcept { return byte_tokens_[byte]; }

  [[nodiscard]] const SpecialIds& ids() const noexcept { return ids_; }
  [[nodiscard]] int32_t bos() const noexcept { return ids_.bos; }
  [[nodiscard]] int32_t eos() const noexcept { return ids_.eos; }
  [[nodiscard]] int32_t eot() const noexcept { return ids_.eot; }
  [[nodiscard]] int32_t eom() const noexcept { return ids_.eom; }
  [[nodiscard]] int32_t unk() const noexcept { return ids_.unk; }
  [[nodiscard]] int32_t sep() const noexcept { return ids_.sep; }
  [[nodiscard]] int32_t pad() const noexcept { return ids_.pad; }
  [[nodiscard]] int32_t nl() const noexcept { return ids_.nl; }

  [[nodiscard]] const TextRules& rules() const noexcept { return rules_; }
  [[nodiscard]] bool add_bos() const noexcept { return rules_.add_bos; }
  [[nodiscard]] bool add_eos() const noexcept { return rules_.add_eos; }
  [[nodiscard]] const KindRow& kind() const noexcept { return *kind_; }
  /// Set for byte-pair encoding only.
  [[nodiscard]] const PreTokenizer* pre() const noexcept { return pre_; }
  [[nodiscard]] bool lowercase() const noexcept { return lowercase_; }
  /// Ids that sampling must never choose.
  [[nodiscard]] const std::vector<int32_t>& suppressed() const noexcept { return suppressed_; }
  /// What is odd about the file, for the log.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  [[nodiscard]] const TextTable& texts() const noexcept { return texts_; }

  void set_nl(int32_t id) noexcept { ids_.nl = id; }

 private:
  friend class SpecialIdRules;

  void read_kind(const gguf::Metadata& metadata);
  void read_tokens(const gguf::Metadata& metadata);
  void read_scores_and_types(const gguf::Metadata& metadata);
  void read_rules(const gguf::Metadata& metadata);
  void find_byte_tokens();

  TextTable texts_;
  int32_t n_tokens_ = 0;
  std::vector<float> scores_;  ///< empty: all 0
  std::vector<uint16_t> attributes_;
  int32_t byte_tokens_[256] = {};
  SpecialIds ids_;
  std::vector<int32_t> eog_ids_;
  std::vector<int32_t> suppressed_;
  TextRules rules_;
  bool lowercase_ = true;
  const KindRow* kind_ = nullptr;
  const PreTokenizer* pre_ = nullptr;
  std::vector<std::string> warnings_;
};

}  // namespace brisk::tokenizer
