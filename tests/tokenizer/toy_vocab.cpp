#include "toy_vocab.hpp"

#include <fmt/format.h>

#include <span>
#include <stdexcept>

#include "gguf/reader.hpp"
#include "tokenizer/byte_encoding.hpp"

namespace brisk::test {

ToyVocab::ToyVocab(std::string_view model, std::string_view pre) {
  metadata_.set_string("tokenizer.ggml.model", model);
  if (!pre.empty()) metadata_.set_string("tokenizer.ggml.pre", pre);
}

ToyVocab& ToyVocab::token(std::string text, Type type, float score) {
  tokens_.push_back({std::move(text), type, score});
  return *this;
}

ToyVocab& ToyVocab::tokens(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) token(text);
  return *this;
}

ToyVocab& ToyVocab::byte_tokens() {
  for (int byte = 0; byte < 256; ++byte) token(fmt::format("<0x{:02X}>", byte), Type::byte);
  return *this;
}

ToyVocab& ToyVocab::byte_alphabet() {
  for (int byte = 0; byte < 256; ++byte) token(std::string(tokenizer::encoded_byte(static_cast<uint8_t>(byte))));
  return *this;
}

ToyVocab& ToyVocab::merge(std::string pair) {
  merges_.push_back(std::move(pair));
  return *this;
}

ToyVocab& ToyVocab::id(std::string_view key, uint32_t value) {
  metadata_.add(fmt::format("tokenizer.ggml.{}", key), {gguf::ValueType::u32, uint64_t{value}});
  return *this;
}

ToyVocab& ToyVocab::flag(std::string_view key, bool value) {
  metadata_.add(fmt::format("tokenizer.ggml.{}", key), {gguf::ValueType::boolean, value});
  return *this;
}

ToyVocab& ToyVocab::text(std::string_view key, std::string_view value) {
  metadata_.set_string(std::string(key), value);
  return *this;
}

int32_t ToyVocab::find(std::string_view text) const {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].text == text) return static_cast<int32_t>(i);
  }
  throw std::runtime_error("the toy vocabulary lacks " + std::string(text));
}

const gguf::Metadata& ToyVocab::metadata() {
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  std::vector<float> scores;
  for (const ToyToken& token : tokens_) {
    texts.push_back(token.text);
    types.push_back(static_cast<int32_t>(token.type));
    scores.push_back(token.score);
  }
  metadata_.set_strings("tokenizer.ggml.tokens", texts);
  metadata_.set_strings("tokenizer.ggml.merges", merges_);
  metadata_.set_numbers("tokenizer.ggml.token_type", gguf::ValueType::i32, std::as_bytes(std::span(types)));
  metadata_.set_numbers("tokenizer.ggml.scores", gguf::ValueType::f32, std::as_bytes(std::span(scores)));
  return metadata_;
}

std::unique_ptr<const tokenizer::Tokenizer> ToyVocab::load(const tokenizer::LoadOptions& options) {
  return tokenizer::Tokenizer::load(metadata(), options);
}

std::unique_ptr<const tokenizer::Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  return tokenizer::Tokenizer::load(gguf::Model::open(path).metadata());
}

std::string joined(const tokenizer::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += tokenizer.piece(id, true);
  return text;
}

}  // namespace brisk::test
