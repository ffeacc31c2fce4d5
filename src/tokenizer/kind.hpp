#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"
#include "tokenizer/fragment.hpp"
#include "tokenizer/vocab.hpp"

namespace brisk::tokenizer {

/// One algorithm, set up for one vocabulary (which outlives it). Immutable and thread-safe.
class Kind {
 public:
  virtual ~Kind() = default;

  /// Appends the tokens of a prompt: those that stand in it, and those of the text between them.
  virtual void encode(std::span<const Fragment> prompt, std::vector<int32_t>& out) const = 0;
  /// What a token of type NORMAL stands for, as bytes.
  [[nodiscard]] virtual std::string bytes_of(std::string_view token_text) const = 0;
};

struct KindOptions {
  bool llama_cpp_compat = false;
};

// One function a kind; tokenizer.cpp has the table.
std::unique_ptr<Kind> make_spm(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options);
std::unique_ptr<Kind> make_bpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options);
std::unique_ptr<Kind> make_whitespace_bpe(const Vocab& vocab, const gguf::Metadata& metadata,
                                          const KindOptions& options);
std::unique_ptr<Kind> make_dna_bpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options);

/// `text` with spaces as U+2581, as SentencePiece vocabularies write them, and back.
[[nodiscard]] std::string escape_spaces(std::string_view text);
[[nodiscard]] std::string unescape_spaces(std::string_view text);

}  // namespace brisk::tokenizer
