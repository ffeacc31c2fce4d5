#include "tokenizer/tokenizer.hpp"

#include "base/error.hpp"
#include "tokenizer/kind.hpp"
#include "tokenizer/special_splitter.hpp"

namespace brisk::tokenizer {

namespace {

constexpr size_t kLongestText = size_t{1} << 30;  // positions are 32-bit, and escaped spaces take 3 bytes

using MakeKind = std::unique_ptr<Kind> (*)(const Vocab&, const gguf::Metadata&, const KindOptions&);

struct Maker {
  std::string_view model;
  MakeKind make;
};

// The kinds that brisk can run, by `tokenizer.ggml.model`.
constexpr Maker kMakers[] = {
    {"llama", make_spm},         {"gpt2", make_bpe}, {"gemma4", make_bpe}, {"whitespace", make_whitespace_bpe},
    {"hybriddna", make_dna_bpe},
};

std::unique_ptr<Kind> make_kind(const Vocab& vocab, const gguf::Metadata& metadata, const LoadOptions& options) {
  for (const Maker& maker : kMakers) {
    if (maker.model == vocab.kind().model) return maker.make(vocab, metadata, {options.llama_cpp_compat});
  }
  fail(ErrorCode::unsupported, "{}: this version of brisk cannot run a {} tokenizer (tokenizer.ggml.model '{}')",
       metadata.file_name(), vocab.kind().title, vocab.kind().model);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = text.find(from, done)) != std::string::npos; done = at + from.size()) {
    out.append(text, done, at - done).append(to);
  }
  text = out.append(text, done);
}

/// Three passes, as the field does it: spaces before ? ! . , then a lone apostrophe, then some contractions.
void clean_spaces(std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool before_mark =
        text[i] == ' ' && i + 1 < text.size() && std::string_view("?!.,").find(text[i + 1]) != std::string_view::npos;
    if (!before_mark) out.push_back(text[i]);
  }
  text.swap(out);
  replace_all(text, " ' ", "'");
  for (const std::string_view ending : {"'s", "'m", "'re", "'ve"}) replace_all(text, " " + std::string(ending), ending);
}

}  // namespace

struct Tokenizer::Algorithm {
  Algorithm(const Vocab& vocab, const gguf::Metadata& metadata, const LoadOptions& options)
      : kind(make_kind(vocab, metadata, options)), specials(vocab) {}
  std::unique_ptr<Kind> kind;
  SpecialSplitter specials;
};

std::unique_ptr<const Tokenizer> Tokenizer::load(const gguf::Metadata& metadata, const LoadOptions& options) {
  return std::unique_ptr<const Tokenizer>(new Tokenizer(metadata, options));
}

Tokenizer::Tokenizer(const gguf::Metadata& metadata, const LoadOptions& options)
    : vocab_(Vocab::load(metadata)), algorithm_(std::make_unique<Algorithm>(vocab_, metadata, options)) {
  make_pieces();
  find_newline();
}

Tokenizer::~Tokenizer() = default;

void Tokenizer::make_pieces() {
  piece_ends_.reserve(static_cast<size_t>(vocab_.n_tokens()) + 1);
  piece_ends_.push_back(0);
  for (int32_t id = 0; id < vocab_.n_tokens(); ++id) {
    pieces_ += make_piece(id);
    piece_ends_.push_back(static_cast<uint32_t>(pieces_.size()));
  }
}

std::string Tokenizer::make_piece(int32_t id) const {
  const std::string_view text = vocab_.text(id);
  if (vocab_.has(id, attribute::control | attribute::unknown | attribute::user_defined)) return std::string(text);
  if (vocab_.has(id, attribute::normal)) return algorithm_->kind->bytes_of(text);
  if (!vocab_.has(id, attribute::byte)) return {};
  for (int byte = 0; byte < 256; ++byte) {
    if (vocab_.byte_token(static_cast<uint8_t>(byte)) == id) return std::string(1, static_cast<char>(byte));
  }
  return std::string(text);
}

void Tokenizer::find_newline() {
  int32_t id = vocab_.byte_token('\n');
  if (vocab_.kind().kind != KindId::spm) {
    std::vector<int32_t> tokens;
    const Fragment newline{kNoToken, "\n"};
    algorithm_->kind->encode({&newline, 1}, tokens);
    id = tokens.empty() ? kNoToken : tokens.front();
  }
  vocab_.set_nl(id != kNoToken ? id : vocab_.pad());
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() >= kLongestText)
    fail(ErrorCode::invalid_argument, "a text of {} bytes is too long to tokenize", text.size());
  const std::vector<Fragment> fragments = algorithm_->specials.split(text, options.parse_special);
  return encode(fragments, options.add_special);
}

std::vector<int32_t> Tokenizer::encode(std::span<const TextPart> parts, bool add_special) const {
  std::string text;
  for (const TextPart& part : parts) text += part.text;
  if (text.size() >= kLongestText)
    fail(ErrorCode::invalid_argument, "a text of {} bytes is too long to tokenize", text.size());
  std::vector<Fragment> fragments;
  size_t begin = 0;
  for (const TextPart& part : parts) {
    const std::string_view here = std::string_view(text).substr(begin, part.text.size());
    begin += part.text.size();
    for (const Fragment& fragment : algorithm_->specials.split(here, part.parse_special)) {
      Fragment* last = fragments.empty() ? nullptr : &fragments.back();
      const bool both_text = last != nullptr && last->token == kNoToken && fragment.token == kNoToken;
      if (both_text && last->text.data() + last->text.size() == fragment.text.data()) {
        last->text = {last->text.data(), last->text.size() + fragment.text.size()};
      } else {
        fragments.push_back(fragment);
      }
    }
  }
  return encode(fragments, add_special);
}

std::vector<int32_t> Tokenizer::encode(std::span<const Fragment> fragments, bool add_special) const {
  std::vector<int32_t> out;
  const TextRules& rules = vocab_.rules();
  if (add_special && rules.add_bos && vocab_.bos() != kNoToken) out.push_back(vocab_.bos());
  algorithm_->kind->encode(fragments, out);
  if (add_special && rules.add_eos && vocab_.eos() != kNoToken) out.push_back(vocab_.eos());
  return out;
}

std::string_view Tokenizer::piece(int32_t id, bool special) const noexcept {
  if (!vocab_.is_valid(id)) return {};
  if (!special && vocab_.has(id, attribute::control | attribute::unknown)) return {};
  const auto i = static_cast<size_t>(id);
  return std::string_view(pieces_).substr(piece_ends_[i], piece_ends_[i + 1] - piece_ends_[i]);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options) const {
  const TextRules& rules = vocab_.rules();
  bool drop_space = rules.add_space_prefix;
  if (options.remove_special && rules.add_bos && !ids.empty() && ids.front() == vocab_.bos()) {
    ids = ids.subspan(1);
    drop_space = false;
  }
  if (options.remove_special && rules.add_eos && !ids.empty() && ids.back() == vocab_.eos()) {
    ids = ids.first(ids.size() - 1);
  }
  std::string text;
  for (const int32_t id : ids) {
    std::string_view shown = piece(id, options.unparse_special);
    if (drop_space && shown.starts_with(' ')) shown.remove_prefix(1);
    drop_space = false;
    text.append(shown);
  }
  if (rules.clean_spaces) clean_spaces(text);
  return text;
}

}  // namespace brisk::tokenizer
