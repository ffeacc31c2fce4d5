#include "tokenizer/bpe.hpp"

#include <cstring>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "tokenizer/byte_encoding.hpp"
#include "tokenizer/nfc.hpp"

namespace brisk::tokenizer {

namespace {

// Toy vocabularies borrow the name of a family's pre-tokenizer without its normaliser; the published ones that
// normalise have 100 k tokens and more.
constexpr int32_t kSmallestNormalising = 65536;

}  // namespace

struct Bpe::Run {
  explicit Run(const MergeTable& merges) : lookup{merges}, merger(lookup) {}
  Lookup lookup;
  Merger<Lookup> merger;
  std::vector<Symbol> symbols;
  std::string scratch;
};

Bpe::Bpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options)
    : vocab_(vocab),
      pre_(*vocab.pre()),
      splitter_(*pre_.rules, options.llama_cpp_compat),
      nfc_(pre_.nfc && !options.llama_cpp_compat && vocab.n_tokens() >= kSmallestNormalising) {
  read_merges(metadata);
  for (uint32_t byte = 0; byte < 256; ++byte) {
    byte_symbols_[byte] = number_of(encoded_byte(static_cast<uint8_t>(byte)));
  }
  Run run(merges_);
  encode_segment("\xEF\xBF\xBD", run, replacement_);
}

uint32_t Bpe::number_of(std::string_view text) {
  if (const auto id = vocab_.find(text)) return static_cast<uint32_t>(*id);
  return static_cast<uint32_t>(vocab_.n_tokens()) + merge_only_texts_.intern(text);
}

void Bpe::read_merges(const gguf::Metadata& metadata) {
  constexpr std::string_view kKey = "tokenizer.ggml.merges";
  const auto merges = metadata.get_array(kKey);
  if (!merges) {
    if (pre_.optional_merges) return;
    fail(ErrorCode::corrupt, "{}: key {} is missing; byte-pair encoding needs it", metadata.file_name(), kKey);
  }
  if (merges->element_type() != gguf::ValueType::string || merges->size() >= PairMerge::kNever) {
    fail(ErrorCode::corrupt, "{}: {} must be an array of strings", metadata.file_name(), kKey);
  }
  merges_.reserve(merges->size());
  std::string joined;
  merges->for_each_string([&](uint64_t rank, std::string_view pair) {
    // A left part may begin with a space, so the border is the first space behind the first byte.
    const size_t space = pair.find(' ', 1);
    if (space == std::string_view::npos) {
      fail(ErrorCode::corrupt, "{}: {} number {} is '{}', without a space between two parts", metadata.file_name(),
           kKey, rank, pair);
    }
    const std::string_view left = pair.substr(0, space);
    const std::string_view right = pair.substr(space + 1);
    joined.assign(left).append(right);
    merges_.add(number_of(left), number_of(right), static_cast<uint32_t>(rank), number_of(joined));
  });
}

std::string_view Bpe::text_of(uint32_t number) const {
  const auto n_tokens = static_cast<uint32_t>(vocab_.n_tokens());
  return number < n_tokens ? vocab_.text(static_cast<int32_t>(number)) : merge_only_texts_[number - n_tokens];
}

std::string Bpe::bytes_of(std::string_view token_text) const {
  if (pre_.escape_spaces) return unescape_spaces(token_text);
  return pre_.raw ? std::string(token_text) : decode_bytes(token_text);
}

void Bpe::encode(std::span<const Fragment> prompt, std::vector<int32_t>& out) const {
  Run run(merges_);
  for (const Fragment& fragment : prompt) {
    if (fragment.token != kNoToken) {
      out.push_back(fragment.token);
    } else {
      encode_text(fragment.text, run, out);
    }
  }
}

void Bpe::encode_text(std::string_view text, std::vector<int32_t>& out) const {
  Run run(merges_);
  encode_text(text, run, out);
}

void Bpe::encode_text(std::string_view text, Run& run, std::vector<int32_t>& out) const {
  if (pre_.escape_spaces) {
    encode_split(escape_spaces(text), run, out);
  } else if (nfc_ && needs_nfc(text)) {
    encode_split(to_nfc(text), run, out);
  } else {
    encode_split(text, run, out);
  }
}

void Bpe::encode_split(std::string_view text, Run& run, std::vector<int32_t>& out) const {
  uint32_t begin = 0;
  for (const uint32_t end : splitter_.split(text)) {
    encode_segment(text.substr(begin, end - begin), run, out);
    begin = end;
  }
}

bool Bpe::take_whole(std::string_view segment, Run& run, std::vector<int32_t>& out) const {
  const bool newlines = pre_.keep_newline_runs && segment.find_first_not_of('\n') == std::string_view::npos;
  if (!pre_.ignore_merges && !newlines) return false;
  if (segment.size() > vocab_.texts().longest()) return false;
  std::string_view wanted = segment;
  if (!pre_.raw) {
    run.scratch.clear();
    append_encoded(run.scratch, segment);
    wanted = run.scratch;
  }
  const auto id = vocab_.find(wanted);
  if (!id) return false;
  out.push_back(*id);
  return true;
}

void Bpe::encode_segment(std::string_view segment, Run& run, std::vector<int32_t>& out) const {
  if (take_whole(segment, run, out)) return;
  run.symbols.clear();
  for (uint32_t i = 0; i < segment.size();) {
    uint32_t length = 1;
    auto number = static_cast<int32_t>(byte_symbols_[static_cast<uint8_t>(segment[i])]);
    if (pre_.raw) {
      length = utf8::decode(segment, i).length;
      number = vocab_.find(segment.substr(i, length)).value_or(kNoToken);
    }
    run.symbols.push_back({number, i, length});
    i += length;
  }
  run.merger.merge(run.symbols);
  for (const Symbol& symbol : run.symbols) {
    if (vocab_.is_valid(symbol.id)) {
      out.push_back(symbol.id);
    } else {
      append_bytes(segment.substr(symbol.begin, symbol.size), out);
    }
  }
}

void Bpe::append_bytes(std::string_view bytes, std::vector<int32_t>& out) const {
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    const auto number = static_cast<int32_t>(byte_symbols_[byte]);
    const bool never_in_utf8 = byte == 0xC0 || byte == 0xC1 || byte >= 0xF5;
    if (!pre_.raw && vocab_.is_valid(number)) {
      out.push_back(number);
    } else if (vocab_.byte_token(byte) != kNoToken) {
      out.push_back(vocab_.byte_token(byte));
    } else if (never_in_utf8) {
      out.insert(out.end(), replacement_.begin(), replacement_.end());
    }
  }
}

std::unique_ptr<Kind> make_bpe(const Vocab& vocab, const gguf::Metadata& metadata, const KindOptions& options) {
  return std::make_unique<Bpe>(vocab, metadata, options);
}

}  // namespace brisk::tokenizer
