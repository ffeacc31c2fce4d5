#include <optional>

#include <utf8proc.h>

#include "base/utf8.hpp"
#include "tokenizer/bpe.hpp"

namespace brisk::tokenizer {

namespace {

bool is_space(uint32_t cp) {
  return (cp >= 0x09 && cp <= 0x0D) || cp == 0x20 || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
         (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/// Words between whitespace, which is dropped; lower-cased when the file says so.
class WhitespaceBpe : public Kind {
 public:
  WhitespaceBpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options)
      : bpe_(vocab, metadata, options), lowercase_(vocab.lowercase()) {}

  void encode(std::span<const Fragment> prompt, std::vector<int32_t>& out) const override {
    for (const Fragment& fragment : prompt) {
      if (fragment.token != kNoToken) out.push_back(fragment.token);
      encode_text(fragment.text, out);
    }
  }

  [[nodiscard]] std::string bytes_of(std::string_view token_text) const override { return std::string(token_text); }

 private:
  void encode_text(std::string_view text, std::vector<int32_t>& out) const {
    std::string word;
    const auto end_word = [&] {
      if (!word.empty()) bpe_.encode_text(word, out);
      word.clear();
    };
    for (size_t i = 0; i < text.size();) {
      const utf8::Decoded point = utf8::decode(text, i);
      if (point.valid && is_space(point.code_point)) {
        end_word();
      } else if (point.valid && lowercase_) {
        utf8::append(word, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point.code_point))));
      } else {
        word.append(text.substr(i, point.length));
      }
      i += point.length;
    }
    end_word();
  }

  Bpe bpe_;
  bool lowercase_;
};

constexpr std::string_view kDnaBegin = "<dna>";
constexpr std::string_view kDnaEnd = "</dna>";
constexpr std::string_view kKmerMark = "\xEE\x80\x80";  // U+E000 keeps the texts of k-mers apart from words
constexpr size_t kKmerLength = 6;

/// Byte-pair encoding outside of <dna> ... </dna>, 6-mers inside.
class DnaBpe : public Kind {
 public:
  DnaBpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options)
      : vocab_(vocab), bpe_(vocab, metadata, options) {
    begin_ = vocab.find(kDnaBegin);
    end_ = vocab.find(kDnaEnd);
    unknown_ = vocab.find("<oov>");
  }

  void encode(std::span<const Fragment> prompt, std::vector<int32_t>& out) const override {
    for (const Fragment& fragment : prompt) {
      if (fragment.token != kNoToken) out.push_back(fragment.token);
      encode_text(fragment.text, out);
    }
  }

  [[nodiscard]] std::string bytes_of(std::string_view token_text) const override {
    if (token_text.ends_with(kKmerMark)) token_text.remove_suffix(kKmerMark.size());
    return bpe_.bytes_of(token_text);
  }

 private:
  void encode_text(std::string_view text, std::vector<int32_t>& out) const {
    const bool has_dna = begin_ && end_ && unknown_;
    while (!text.empty()) {
      const size_t dna = has_dna ? text.find(kDnaBegin) : std::string_view::npos;
      if (dna != 0) bpe_.encode_text(text.substr(0, dna), out);
      if (dna == std::string_view::npos) return;
      out.push_back(*begin_);
      text.remove_prefix(dna + kDnaBegin.size());
      const size_t end = text.find(kDnaEnd);
      encode_sequence(text.substr(0, end), out);
      if (end == std::string_view::npos) return;
      out.push_back(*end_);
      text.remove_prefix(end + kDnaEnd.size());
    }
  }

  void encode_sequence(std::string_view sequence, std::vector<int32_t>& out) const {
    for (size_t i = 0; i < sequence.size(); i += kKmerLength) {
      std::string kmer(sequence.substr(i, kKmerLength));
      for (char& c : kmer) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      kmer.resize(kKmerLength, 'A');
      out.push_back(vocab_.find(kmer.append(kKmerMark)).value_or(*unknown_));
    }
  }

  const Vocab& vocab_;
  Bpe bpe_;
  std::optional<int32_t> begin_;
  std::optional<int32_t> end_;
  std::optional<int32_t> unknown_;
};

}  // namespace

std::unique_ptr<Kind> make_whitespace_bpe(const Vocab& vocab, const gguf::Metadata& metadata,
                                          const KindOptions& options) {
  return std::make_unique<WhitespaceBpe>(vocab, metadata, options);
}

std::unique_ptr<Kind> make_dna_bpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options) {
  return std::make_unique<DnaBpe>(vocab, metadata, options);
}

}  // namespace brisk::tokenizer
