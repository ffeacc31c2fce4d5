#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"
#include "tokenizer/kind.hpp"
#include "tokenizer/merge.hpp"
#include "tokenizer/splitter.hpp"
#include "tokenizer/text_table.hpp"
#include "tokenizer/vocab.hpp"

namespace brisk::tokenizer {

/// Byte-pair encoding: the text is split by the rules of its pre-tokenizer, each segment begins as bytes of GPT-2's
/// alphabet (or as characters, when `raw`) and neighbours merge by the rank of their pair.
class Bpe : public Kind {
 public:
  Bpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options);

  void encode(std::span<const Fragment> prompt, std::vector<int32_t>& out) const override;
  void encode_text(std::string_view text, std::vector<int32_t>& out) const;
  [[nodiscard]] std::string bytes_of(std::string_view token_text) const override;

 private:
  struct Lookup {
    PairMerge operator()(const Symbol& left, const Symbol& right) const {
      const auto* entry = merges.find(static_cast<uint32_t>(left.id), static_cast<uint32_t>(right.id));
      if (entry == nullptr) return {};
      return {entry->rank, static_cast<int32_t>(entry->merged)};
    }
    const MergeTable& merges;
  };
  struct Run;

  void read_merges(const gguf::Metadata& metadata);
  /// The number of a text: its token id, or one behind the tokens for texts that occur in merges only.
  [[nodiscard]] uint32_t number_of(std::string_view text);
  [[nodiscard]] std::string_view text_of(uint32_t number) const;
  void encode_text(std::string_view text, Run& run, std::vector<int32_t>& out) const;
  void encode_split(std::string_view text, Run& run, std::vector<int32_t>& out) const;
  void encode_segment(std::string_view segment, Run& run, std::vector<int32_t>& out) const;
  [[nodiscard]] bool take_whole(std::string_view segment, Run& run, std::vector<int32_t>& out) const;
  void append_bytes(std::string_view bytes, std::vector<int32_t>& out) const;

  const Vocab& vocab_;
  const PreTokenizer& pre_;
  Splitter splitter_;
  bool nfc_;
  MergeTable merges_;
  TextTable merge_only_texts_;
  uint32_t byte_symbols_[256] = {};   ///< number of each byte's text
  std::vector<int32_t> replacement_;  ///< U+FFFD, for impossible bytes that a vocabulary trained on text left out
};

}  // namespace brisk::tokenizer
