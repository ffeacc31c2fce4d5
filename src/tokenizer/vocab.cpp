#include "tokenizer/vocab.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "tokenizer/special_ids.hpp"

namespace brisk::tokenizer {

namespace {

uint16_t attributes_of_type(int64_t type) {
  switch (type) {
    case 1:
      return attribute::normal;
    case 2:
      return attribute::unknown;
    case 3:
      return attribute::control;
    case 4:
      return attribute::user_defined;
    case 5:
      return attribute::unused;
    case 6:
      return attribute::byte;
    default:
      return 0;
  }
}

gguf::Array strings_at(const gguf::Metadata& metadata, std::string_view key) {
  const auto array = metadata.get_array(key);
  if (!array)
    fail(ErrorCode::corrupt, "{}: key {} is missing; the file has no usable tokenizer", metadata.file_name(), key);
  if (array->element_type() != gguf::ValueType::string) {
    fail(ErrorCode::corrupt, "{}: {} is an array of {}, it must hold strings", metadata.file_name(), key,
         gguf::name_of(array->element_type()));
  }
  return *array;
}

}  // namespace

Vocab Vocab::load(const gguf::Metadata& metadata) {
  Vocab vocab;
  vocab.read_kind(metadata);
  vocab.read_tokens(metadata);
  vocab.read_scores_and_types(metadata);
  vocab.read_rules(metadata);
  vocab.find_byte_tokens();
  SpecialIdRules(vocab, metadata).apply();
  return vocab;
}

float Vocab::score(int32_t id) const noexcept { return scores_.empty() ? 0.0f : scores_[static_cast<size_t>(id)]; }

bool Vocab::is_eog(int32_t id) const noexcept { return std::binary_search(eog_ids_.begin(), eog_ids_.end(), id); }

std::optional<int32_t> Vocab::find(std::string_view text) const noexcept {
  const auto number = texts_.find(text);
  if (!number) return std::nullopt;
  return static_cast<int32_t>(*number);
}

void Vocab::read_kind(const gguf::Metadata& metadata) {
  const auto model = metadata.get_string("tokenizer.ggml.model");
  if (!model)
    fail(ErrorCode::corrupt, "{}: key tokenizer.ggml.model is missing; the file has no tokenizer",
         metadata.file_name());
  kind_ = find_kind(*model);
  if (kind_ == nullptr)
    fail(ErrorCode::unsupported, "{}: unknown tokenizer.ggml.model '{}'", metadata.file_name(), *model);
  rules_ = kind_->rules;
  ids_ = kind_->defaults;
  if (kind_->kind != KindId::bpe) return;
  std::string_view name = metadata.get_string("tokenizer.ggml.pre").value_or("");
  if (*model == "gemma4" || *model == "whitespace") name = *model;
  if (name.empty()) {
    warnings_.push_back(
        "tokenizer.ggml.pre is missing: the default split rules are used, tokens may not be those of the model");
    name = "default";
  }
  pre_ = find_pre_tokenizer(name);
  if (pre_ == nullptr)
    fail(ErrorCode::unsupported, "{}: unknown pre-tokenizer '{}' (tokenizer.ggml.pre)", metadata.file_name(), name);
  rules_.add_bos = pre_->add_bos;
  rules_.add_sep = pre_->add_sep;
  rules_.clean_spaces = pre_->clean_spaces;
  rules_.escape_whitespace = pre_->escape_spaces;
  if (pre_->no_default_bos) ids_.bos = kNoToken;
}

void Vocab::read_tokens(const gguf::Metadata& metadata) {
  const gguf::Array tokens = strings_at(metadata, "tokenizer.ggml.tokens");
  constexpr uint64_t kMostTokens = 1u << 28;
  if (tokens.size() == 0 || tokens.size() > kMostTokens) {
    fail(ErrorCode::corrupt, "{}: tokenizer.ggml.tokens has {} entries", metadata.file_name(), tokens.size());
  }
  n_tokens_ = static_cast<int32_t>(tokens.size());
  texts_.reserve(tokens.size(), tokens.bytes().size());
  tokens.for_each_string([&](uint64_t id, std::string_view text) {
    const uint32_t number = text.empty() ? texts_.intern(fmt::format("[EMPTY_{}]", id)) : texts_.intern(text);
    if (number == id) return;
    fail(ErrorCode::corrupt, "{}: tokens {} and {} have the same text '{}'", metadata.file_name(), number, id, text);
  });
}

void Vocab::read_scores_and_types(const gguf::Metadata& metadata) {
  const auto n = static_cast<uint64_t>(n_tokens_);
  const auto check_length = [&](const gguf::Array& array, std::string_view key) {
    if (array.size() >= n) return;
    fail(ErrorCode::corrupt, "{}: {} has {} entries for {} tokens", metadata.file_name(), key, array.size(), n);
  };
  if (const auto scores = metadata.get_array("tokenizer.ggml.scores")) {
    check_length(*scores, "tokenizer.ggml.scores");
    scores_.reserve(n);
    for (uint64_t i = 0; i < n; ++i) scores_.push_back(static_cast<float>(scores->float_at(i)));
  }
  attributes_.assign(n, attribute::normal);
  if (const auto types = metadata.get_array("tokenizer.ggml.token_type")) {
    check_length(*types, "tokenizer.ggml.token_type");
    for (uint64_t i = 0; i < n; ++i) attributes_[i] = attributes_of_type(types->int_at(i));
  }
  if (const auto suppressed = metadata.get_ints("tokenizer.ggml.suppress_tokens")) {
    for (const int64_t id : *suppressed) {
      if (id >= 0 && id < n_tokens_) suppressed_.push_back(static_cast<int32_t>(id));
    }
  }
}

void Vocab::read_rules(const gguf::Metadata& metadata) {
  const auto read = [&](std::string_view key, bool& setting) {
    if (const auto value = metadata.get_bool(key)) setting = *value;
  };
  read("tokenizer.ggml.add_space_prefix", rules_.add_space_prefix);
  read("tokenizer.ggml.add_bos_token", rules_.add_bos);
  read("tokenizer.ggml.add_eos_token", rules_.add_eos);
  read("tokenizer.ggml.add_sep_token", rules_.add_sep);
  if (pre_ != nullptr && pre_->force_add_bos) {
    if (!rules_.add_bos) warnings_.push_back(fmt::format("pre-tokenizer {} needs BOS: add_bos is set", pre_->name));
    rules_.add_bos = true;
  }
  lowercase_ = kind_->model != "whitespace";
  read("tokenizer.ggml.normalizer.lowercase", lowercase_);
}

void Vocab::find_byte_tokens() {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    auto id = find(fmt::format("<0x{:02X}>", byte));
    if (!id) id = find(std::string_view(&raw, 1));
    byte_tokens_[byte] = id.value_or(kNoToken);
  }
}

}  // namespace brisk::tokenizer
