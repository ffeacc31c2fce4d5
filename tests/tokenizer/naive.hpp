#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/special_splitter.hpp"
#include "tokenizer/vocab.hpp"

namespace brisk::test {

/// The rules of special tokens read literally: one pass over all fragments per token, longest text first.
std::vector<tokenizer::Fragment> split_specials_naively(const tokenizer::Vocab& vocab, std::string_view text,
                                                        bool parse_special);

/// SentencePiece merging read literally: search all pairs, join the best, start again. Single characters are symbols.
std::vector<std::string> merge_by_score_naively(const tokenizer::Vocab& vocab, std::string_view text);

}  // namespace brisk::test
