#include <algorithm>
#include <bit>

#include "base/utf8.hpp"
#include "tokenizer/kind.hpp"
#include "tokenizer/merge.hpp"

namespace brisk::tokenizer {

namespace {

constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581

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
    for (int byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      single_bytes_[byte] = vocab.find(std::string_view(&text, 1)).value_or(kNoToken);
    }
  }

  void encode(std::span<const Fragment> prompt, std::vector<int32_t>& out) const override {
    size_t size = 0;
    for (const Fragment& fragment : prompt) size += fragment.text.size();
    Run run(*this, size);
    bool at_start = true;
    for (const Fragment& fragment : prompt) {
      if (fragment.token != kNoToken) {
        out.push_back(fragment.token);
      } else {
        encode_text(fragment.text, at_start && vocab_.rules().add_space_prefix, run, out);
      }
      at_start = fragment.token != kNoToken;
    }
  }

  [[nodiscard]] std::string bytes_of(std::string_view token_text) const override { return unescape_spaces(token_text); }

 private:
  // Pairs are looked up by text. What two tokens give together is kept in a direct-mapped table, since texts repeat
  // their pairs and the vocabulary's own table misses the cache.
  struct Lookup {
    Lookup(const Spm& of, size_t text_size) : spm(of) {
      const size_t slots = std::bit_ceil(std::clamp(text_size, kFewest, kMost));
      known.resize(slots);
      shift = 64 - std::countr_zero(slots);
    }
    PairMerge operator()(const Symbol& left, const Symbol& right) const {
      if (left.id == kNoToken || right.id == kNoToken) return find(left, right);
      const uint64_t key = uint64_t{static_cast<uint32_t>(left.id)} << 32 | static_cast<uint32_t>(right.id);
      Known& slot = known[key * 0x9E3779B97F4A7C15u >> shift];
      if (slot.key != key) slot = {key, find(left, right)};
      return slot.merge;
    }
    [[nodiscard]] PairMerge find(const Symbol& left, const Symbol& right) const {
      const auto id = spm.vocab_.find(text.substr(left.begin, left.size + right.size));
      if (!id) return {};
      return {spm.priorities_[static_cast<size_t>(*id)], *id};
    }

    struct Known {
      uint64_t key = UINT64_MAX;
      PairMerge merge;
    };
    // A short text must not pay for clearing a long table. The longest is 256 KiB, a part of L2.
    static constexpr size_t kFewest = 16;
    static constexpr size_t kMost = 16384;

    const Spm& spm;
    std::string_view text;
    int shift = 0;
    mutable std::vector<Known> known;
  };
  struct Run {
    Run(const Spm& spm, size_t text_size) : lookup(spm, text_size), merger(lookup) {}
    Lookup lookup;
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

  void encode_text(std::string_view text, bool prefix, Run& run, std::vector<int32_t>& out) const {
    const std::string escaped = (prefix ? std::string(kBlank) : std::string()) + escape_spaces(text);
    const std::string_view whole = escaped;
    size_t begin = 0;
    for (size_t at = 0; (at = whole.find(kBlank, at)) != std::string_view::npos; at += kBlank.size()) {
      if (at == begin || blank_may_follow(whole, at)) continue;
      encode_word(whole.substr(begin, at - begin), run, out);
      begin = at;
    }
    encode_word(whole.substr(begin), run, out);
  }

  void encode_word(std::string_view word, Run& run, std::vector<int32_t>& out) const {
    if (word.empty()) return;
    run.symbols.clear();
    for (size_t i = 0; i < word.size();) {
      const size_t length = utf8::decode(word, i).length;  // 1 for an invalid byte
      const auto lead = static_cast<uint8_t>(word[i]);
      const int32_t id = length == 1 ? single_bytes_[lead] : vocab_.find(word.substr(i, length)).value_or(kNoToken);
      run.symbols.push_back({id, static_cast<uint32_t>(i), static_cast<uint32_t>(length)});
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
  int32_t single_bytes_[256] = {};  ///< tokens whose text is one byte
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
