#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"
#include "tokenizer/tokenizer.hpp"

namespace brisk::test {

/// Token types as the files write them.
enum class Type : int32_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct ToyToken {
  std::string text;
  Type type = Type::normal;
  float score = 0;
};

/// The metadata of a small vocabulary, made in memory.
class ToyVocab {
 public:
  /// `model` and `pre` as in tokenizer.ggml.model and .pre; an empty pre is left out.
  explicit ToyVocab(std::string_view model, std::string_view pre = {});

  ToyVocab& token(std::string text, Type type = Type::normal, float score = 0);
  ToyVocab& tokens(const std::vector<std::string>& texts);
  /// `<0x00>` to `<0xFF>` of type BYTE.
  ToyVocab& byte_tokens();
  /// All 256 bytes in GPT-2's alphabet.
  ToyVocab& byte_alphabet();
  ToyVocab& merge(std::string pair);
  ToyVocab& id(std::string_view key, uint32_t value);
  ToyVocab& flag(std::string_view key, bool value);
  ToyVocab& text(std::string_view key, std::string_view value);

  [[nodiscard]] int32_t find(std::string_view text) const;
  [[nodiscard]] const gguf::Metadata& metadata();
  [[nodiscard]] std::unique_ptr<const tokenizer::Tokenizer> load(const tokenizer::LoadOptions& options = {});

 private:
  gguf::Metadata metadata_{"toy.gguf"};
  std::vector<ToyToken> tokens_;
  std::vector<std::string> merges_;
};

/// The tokenizer of a GGUF file.
std::unique_ptr<const tokenizer::Tokenizer> load_tokenizer(const std::filesystem::path& path);

/// Joined pieces with special texts shown: what a tokenizer must give back for any bytes.
std::string joined(const tokenizer::Tokenizer& tokenizer, const std::vector<int32_t>& ids);

}  // namespace brisk::test
