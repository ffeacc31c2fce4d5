#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"
#include "tokenizer/vocab.hpp"

namespace brisk::tokenizer {

struct LoadOptions {
  /// The ids that llama.cpp gives where they differ from those of the model's own tokenizer (`--tokenizer-compat
  /// llama.cpp`): no NFC, and split patterns that see case in ASCII only.
  bool llama_cpp_compat = false;
  bool operator==(const LoadOptions&) const = default;
};

struct EncodeOptions {
  bool add_special = true;     ///< BOS and EOS as the vocabulary wants them
  bool parse_special = false;  ///< control tokens written in the text become tokens
  bool operator==(const EncodeOptions&) const = default;
};

struct DecodeOptions {
  bool remove_special = false;   ///< without the BOS and EOS that add_special put there
  bool unparse_special = false;  ///< show the texts of control tokens
  bool operator==(const DecodeOptions&) const = default;
};

struct Fragment;

/// A part of a prompt. Control tokens are looked for inside the parts that say so and never across a border.
struct TextPart {
  std::string_view text;
  bool parse_special = false;
};

/// Text to tokens and back, by the vocabulary of a model file. Immutable: any number of threads may use one. Keeps
/// nothing of the file it was loaded from.
class Tokenizer {
 public:
  /// Errors: corrupt (missing or contradictory keys), unsupported (a kind of tokenizer that brisk does not have).
  static std::unique_ptr<const Tokenizer> load(const gguf::Metadata& metadata, const LoadOptions& options = {});
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  [[nodiscard]] const Vocab& vocab() const noexcept { return vocab_; }

  /// Any bytes are accepted: those that are not UTF-8 become byte tokens. Linear in the text.
  /// Error invalid_argument: a text of 1 GiB or more.
  [[nodiscard]] std::vector<int32_t> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// The parts as one text, so that borders between them do not change how plain text is cut.
  [[nodiscard]] std::vector<int32_t> encode(std::span<const TextPart> parts, bool add_special = true) const;

  /// The bytes of one token, as streaming shows them; "" for an id outside of the vocabulary, and for control tokens
  /// unless `special`. May end or begin inside a UTF-8 character.
  [[nodiscard]] std::string_view piece(int32_t id, bool special = false) const noexcept;

  /// The text of a whole list. Differs from the joined pieces: the space that encode() put in front is taken away, and
  /// vocabularies with clean_spaces lose spaces before punctuation.
  [[nodiscard]] std::string decode(std::span<const int32_t> ids, const DecodeOptions& options = {}) const;

 private:
  struct Algorithm;
  Tokenizer(const gguf::Metadata& metadata, const LoadOptions& options);
  void make_pieces();
  [[nodiscard]] std::string make_piece(int32_t id) const;
  void find_newline();
  [[nodiscard]] std::vector<int32_t> encode(std::span<const Fragment> fragments, bool add_special) const;

  Vocab vocab_;
  std::unique_ptr<Algorithm> algorithm_;
  std::string pieces_;
  std::vector<uint32_t> piece_ends_;  ///< n_tokens + 1; piece i lies between i and i + 1
};

}  // namespace brisk::tokenizer
