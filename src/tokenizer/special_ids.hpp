#pragma once

#include <set>
#include <string_view>

#include "gguf/metadata.hpp"
#include "tokenizer/vocab.hpp"

namespace brisk::tokenizer {

/// Gives tokens their roles while a vocabulary loads: ids of the file, well-known texts, the tokens that end a
/// generation, and the attribute changes that follow (reference: section "End-of-generation" of
/// docs/formats/tokenizers.md).
class SpecialIdRules {
 public:
  SpecialIdRules(Vocab& vocab, const gguf::Metadata& metadata) : vocab_(vocab), metadata_(metadata) {}
  void apply();

 private:
  void read_ids();
  void read_id(std::string_view key, int32_t& slot);
  void find_by_text();
  void mark_unused_controls();
  void collect_eog();
  void resolve_conflicts();
  void set_strip_attributes();
  void add_attribute(std::string_view text, uint16_t mask);
  [[nodiscard]] bool in_eog(std::string_view text) const;
  uint16_t& attributes(int32_t id) { return vocab_.attributes_[static_cast<size_t>(id)]; }

  Vocab& vocab_;
  const gguf::Metadata& metadata_;
  std::set<int32_t> eog_;
};

}  // namespace brisk::tokenizer
