#pragma once

#include <string>
#include <string_view>

#include "tokenizer/tokenizer.hpp"

namespace brisk::tools {

/// What `brisk tokenize` (llama-tokenize) prints; the text comes with its escapes already processed.
struct TokenizeOptions {
  bool ids_only = false;      ///< --ids: one line `[1, 2, 3]` in place of a line per token
  bool show_count = false;    ///< --show-count: a last line with the number of tokens
  bool add_bos = true;        ///< off with --no-bos; else as the vocabulary wants it
  bool parse_special = true;  ///< off with --no-parse-special
  bool operator==(const TokenizeOptions&) const = default;
};

/// Appends the report to `out`. Pieces are raw bytes, so the report need not be valid UTF-8.
void tokenize(const tokenizer::Tokenizer& tokenizer, std::string_view text, const TokenizeOptions& options,
              std::string& out);

}  // namespace brisk::tools
