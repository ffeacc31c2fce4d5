#include "tokenizer/kinds.hpp"

namespace brisk::tokenizer {

namespace {

constexpr TextRules kSpmRules{.add_space_prefix = true, .escape_whitespace = true, .add_bos = true};
constexpr TextRules kBpeRules{.clean_spaces = true};
constexpr TextRules kWpmRules{.clean_spaces = true, .escape_whitespace = true, .add_bos = true, .add_sep = true};
constexpr TextRules kUgmRules{.escape_whitespace = true, .add_eos = true};
constexpr TextRules kEscapedRules{.escape_whitespace = true};
constexpr SpecialIds kBpeIds{.bos = 11, .eos = 11};

constexpr KindRow kRows[] = {
    {"llama", KindId::spm, "SentencePiece BPE", kSpmRules, {.bos = 1, .eos = 2, .unk = 0}},
    {"gpt2", KindId::bpe, "byte-pair encoding", kBpeRules, kBpeIds},
    {"gemma4", KindId::bpe, "byte-pair encoding", kBpeRules, {}},
    {"hybriddna", KindId::bpe, "byte-pair encoding with DNA 6-mers", kBpeRules, kBpeIds},
    {"whitespace", KindId::bpe, "byte-pair encoding of whitespace-separated words", kBpeRules, kBpeIds},
    {"bert", KindId::wpm, "WordPiece", kWpmRules, {.bos = 101, .unk = 100, .sep = 102, .pad = 0, .mask = 103}},
    {"t5", KindId::ugm, "Unigram", kUgmRules, {.eos = 1, .unk = 2, .pad = 0}},
    {"rwkv", KindId::rwkv, "RWKV trie", kEscapedRules, {}},
    {"plamo2", KindId::plamo2, "PLaMo-2", kEscapedRules, {.bos = 1, .eos = 2, .unk = 0, .pad = 3}},
    {"test", KindId::test, "test", kEscapedRules, {}},
    {"none", KindId::none, "no vocabulary", {}, {}},
    {"no_vocab", KindId::none, "no vocabulary", {}, {}},
};

}  // namespace

std::span<const KindRow> kind_rows() noexcept { return kRows; }

const KindRow* find_kind(std::string_view model) noexcept {
  for (const KindRow& row : kRows) {
    if (row.model == model) return &row;
  }
  return nullptr;
}

}  // namespace brisk::tokenizer
