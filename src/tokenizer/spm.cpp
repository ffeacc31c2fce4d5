#include <bit>
#include <unordered_set>

#include "base/error.hpp"
#include "tokenizer/kind.hpp"
#include "tokenizer/merge.hpp"

namespace brisk::tokenizer {

namespace {

constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581

/// Bytes of a character by its lead byte alone; a stray continuation byte is a character of one byte.
size_t character_length(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  if (byte < 0xC0) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

/// A higher score is a lower priority number. The sign trick makes the order of floats that of integers; NaN comes
/// last.
uint32_t priority_of(float score) {
  if (score != score) return PairMerge::kNever - 1;
  const auto bits = std::bit_cast<uint32_t>(score + 0.0f);  // + 0: -0 and 0 are equal
  const uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return std::min(~ascending, PairMerge::kNever - 1);
}

/// SentencePiece's byte-pair model: any two neighbours whose texts together are a token may merge, best score first.
class Spm : public Kind {
 public:
  explicit Spm(const Vocab& vocab) : vocab_(vocab) {
    priorities_.reserve(static_cast<size_t>(vocab.n_tokens()));
    for (int32_t id = 0; id < vocab.n_tokens(); ++id) {
      priorities_.push_back(priority_of(vocab.score(id)));
      note_inner_blanks(vocab.text(id));
    }
  }

  void encode(std::string_view text, bool at_start, std::vector<int32_t>& out) const override {
    const bool prefix = at_start && vocab_.rules().add_space_prefix;
    const std::string escaped = (prefix ? std::string(kBlank) : std::string()) + escape_spaces(text);
    const Lookup lookup{*this, {}};
    Run run{lookup, {}, Merger<Lookup>(lookup)};
    size_t begin = 0;
    for (size_t at = 0; (at = escaped.find(kBlank, at)) != std::string::npos; at += kBlank.size()) {
      if (at == begin || blank_may_follow(escaped, at)) continue;
      encode_word(std::string_view(escaped).substr(begin, at - begin), run, out);
      begin = at;
    }
    encode_word(std::string_view(escaped).substr(begin), run, out);
  }

  [[nodiscard]] std::string bytes_of(std::string_view token_text) const override { return unescape_spaces(token_text); }

 private:
  struct Lookup {
    PairMerge operator()(const Symbol& left, const Symbol& right) const {
      const auto id = spm.vocab_.find(text.substr(left.begin, left.size + right.size));
      if (!id) return {};
      return {spm.priorities_[static_cast<size_t>(*id)], *id};
    }
    const Spm& spm;
    mutable std::string_view text;
  };
  struct Run {
    const Lookup& lookup;
    std::vector<Symbol> symbols;
    Merger<Lookup> merger;
  };

  // A merge across the border before a blank makes a token with that blank inside. Where no token has such a blank
  // behind that byte, the text can be cut there without changing a token, and words stay short.
  void note_inner_blanks(std::string_view text) {
    for (size_t at = 1; (at = text.find(kBlank, at)) != std::string_view::npos; ++at) {
      byte_before_blank_[static_cast<uint8_t>(text[at - 1])] = true;
    }
  }
  [[nodiscard]] bool blank_may_follow(std::string_view text, size_t at) const {
    return byte_before_blank_[static_cast<uint8_t>(text[at - 1])];
  }

  void encode_word(std::string_view word, Run& run, std::vector<int32_t>& out) const {
    if (word.empty()) return;
    run.symbols.clear();
    for (size_t i = 0; i < word.size();) {
      const size_t length = std::min(character_length(word[i]), word.size() - i);
      const auto id = vocab_.find(word.substr(i, length));
      run.symbols.push_back({id.value_or(kNoToken), static_cast<uint32_t>(i), static_cast<uint32_t>(length)});
      i += length;
    }
    run.lookup.text = word;
    run.merger.merge(run.symbols);
    for (const Symbol& symbol : run.symbols) {
      if (symbol.id != kNoToken) {
        out.push_back(symbol.id);
      } else {
        append_bytes(word.substr(symbol.begin, symbol.size), out);
      }
    }
  }

  /// A vocabulary without byte tokens has `unk` for what it does not know; without that too the byte is left out.
  void append_bytes(std::string_view bytes, std::vector<int32_t>& out) const {
    for (const char byte : bytes) {
      const int32_t id = vocab_.byte_token(static_cast<uint8_t>(byte));
      if (id != kNoToken) {
        out.push_back(id);
      } else if (vocab_.unk() != kNoToken) {
        out.push_back(vocab_.unk());
      }
    }
  }

  const Vocab& vocab_;
  std::vector<uint32_t> priorities_;
  bool byte_before_blank_[256] = {};
};

}  // namespace

std::string escape_spaces(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char c : text) {
    if (c == ' ') {
      out.append(kBlank);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string unescape_spaces(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, kBlank.size()) == kBlank) {
      out.push_back(' ');
      i += kBlank.size();
    } else {
      out.push_back(text[i++]);
    }
  }
  return out;
}

std::unique_ptr<Kind> make_spm(const Vocab& vocab, const gguf::Metadata&, const KindOptions&) {
  return std::make_unique<Spm>(vocab);
}

}  // namespace brisk::tokenizer
