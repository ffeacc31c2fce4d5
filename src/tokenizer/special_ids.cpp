#include "tokenizer/special_ids.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.hpp"

namespace brisk::tokenizer {

namespace {

struct IdKey {
  std::string_view key;
  int32_t SpecialIds::*slot;
};

// The older names of the first three infill tokens stand behind the newer ones and so win over them.
constexpr IdKey kIdKeys[] = {
    {"tokenizer.ggml.bos_token_id", &SpecialIds::bos},
    {"tokenizer.ggml.eos_token_id", &SpecialIds::eos},
    {"tokenizer.ggml.eot_token_id", &SpecialIds::eot},
    {"tokenizer.ggml.eom_token_id", &SpecialIds::eom},
    {"tokenizer.ggml.unknown_token_id", &SpecialIds::unk},
    {"tokenizer.ggml.seperator_token_id", &SpecialIds::sep},
    {"tokenizer.ggml.padding_token_id", &SpecialIds::pad},
    {"tokenizer.ggml.mask_token_id", &SpecialIds::mask},
    {"tokenizer.ggml.fim_pre_token_id", &SpecialIds::fim_pre},
    {"tokenizer.ggml.fim_suf_token_id", &SpecialIds::fim_suf},
    {"tokenizer.ggml.fim_mid_token_id", &SpecialIds::fim_mid},
    {"tokenizer.ggml.fim_pad_token_id", &SpecialIds::fim_pad},
    {"tokenizer.ggml.fim_rep_token_id", &SpecialIds::fim_rep},
    {"tokenizer.ggml.fim_sep_token_id", &SpecialIds::fim_sep},
    {"tokenizer.ggml.prefix_token_id", &SpecialIds::fim_pre},
    {"tokenizer.ggml.suffix_token_id", &SpecialIds::fim_suf},
    {"tokenizer.ggml.middle_token_id", &SpecialIds::fim_mid},
};

struct RoleText {
  int32_t SpecialIds::*slot;
  std::string_view text;
};

// A slot takes the first of its texts that the vocabulary has.
constexpr RoleText kRoleTexts[] = {
    {&SpecialIds::eot, "<|eot_id|>"},
    {&SpecialIds::eot, "<|im_end|>"},
    {&SpecialIds::eot, "<|end|>"},
    {&SpecialIds::eot, "<end_of_turn>"},
    {&SpecialIds::eot, "<|endoftext|>"},
    {&SpecialIds::eot, "<|end_of_text|>"},
    {&SpecialIds::eot, "<EOT>"},
    {&SpecialIds::eot, "_<EOT>"},
    {&SpecialIds::eot, "[EOT]"},
    {&SpecialIds::eot, "<｜end▁of▁sentence｜>"},
    {&SpecialIds::eot, "<end_of_utterance>"},
    {&SpecialIds::eom, "<|eom_id|>"},
    {&SpecialIds::fim_pre, "<|fim_prefix|>"},
    {&SpecialIds::fim_pre, "<fim-prefix>"},
    {&SpecialIds::fim_pre, "<fim_prefix>"},
    {&SpecialIds::fim_pre, "<｜fim▁begin｜>"},
    {&SpecialIds::fim_pre, "<PRE>"},
    {&SpecialIds::fim_pre, "▁<PRE>"},
    {&SpecialIds::fim_pre, "<|code_prefix|>"},
    {&SpecialIds::fim_pre, "<|prefix|>"},
    {&SpecialIds::fim_suf, "<|fim_suffix|>"},
    {&SpecialIds::fim_suf, "<fim-suffix>"},
    {&SpecialIds::fim_suf, "<fim_suffix>"},
    {&SpecialIds::fim_suf, "<｜fim▁hole｜>"},
    {&SpecialIds::fim_suf, "<SUF>"},
    {&SpecialIds::fim_suf, "▁<SUF>"},
    {&SpecialIds::fim_suf, "<|code_suffix|>"},
    {&SpecialIds::fim_suf, "<|suffix|>"},
    {&SpecialIds::fim_mid, "<|fim_middle|>"},
    {&SpecialIds::fim_mid, "<fim-middle>"},
    {&SpecialIds::fim_mid, "<fim_middle>"},
    {&SpecialIds::fim_mid, "<｜fim▁end｜>"},
    {&SpecialIds::fim_mid, "<MID>"},
    {&SpecialIds::fim_mid, "▁<MID>"},
    {&SpecialIds::fim_mid, "<|code_middle|>"},
    {&SpecialIds::fim_mid, "<|middle|>"},
    {&SpecialIds::fim_pad, "<|fim_pad|>"},
    {&SpecialIds::fim_pad, "<fim-pad>"},
    {&SpecialIds::fim_pad, "<fim_pad>"},
    {&SpecialIds::fim_pad, "<PAD>"},
    {&SpecialIds::fim_pad, "[PAD]"},
    {&SpecialIds::fim_rep, "<|fim_repo|>"},
    {&SpecialIds::fim_rep, "<|repo_name|>"},
    {&SpecialIds::fim_rep, "<fim-repo>"},
    {&SpecialIds::fim_rep, "<REPO>"},
    {&SpecialIds::fim_rep, "<reponame>"},
    {&SpecialIds::fim_sep, "<|file_sep|>"},
};

constexpr std::string_view kEogTexts[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
};

// Tokens of the harmony format that readers of an answer must see.
constexpr std::string_view kShownTexts[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

void SpecialIdRules::apply() {
  read_ids();
  find_by_text();
  mark_unused_controls();
  collect_eog();
  resolve_conflicts();
  vocab_.eog_ids_.assign(eog_.begin(), eog_.end());
  set_strip_attributes();
}

void SpecialIdRules::read_id(std::string_view key, int32_t& slot) {
  const auto id = metadata_.get_int(key);
  if (!id) return;
  if (*id >= 0 && *id < vocab_.n_tokens_) {
    slot = static_cast<int32_t>(*id);
  } else {
    vocab_.warnings_.push_back(fmt::format("{} is {}, outside of the {} tokens; ignored", key, *id, vocab_.n_tokens_));
  }
}

void SpecialIdRules::read_ids() {
  for (int32_t SpecialIds::*slot :
       {&SpecialIds::bos, &SpecialIds::eos, &SpecialIds::unk, &SpecialIds::sep, &SpecialIds::pad, &SpecialIds::mask}) {
    if (vocab_.ids_.*slot >= vocab_.n_tokens_) vocab_.ids_.*slot = kNoToken;
  }
  for (const IdKey& row : kIdKeys) read_id(row.key, vocab_.ids_.*row.slot);
}

void SpecialIdRules::find_by_text() {
  for (const RoleText& row : kRoleTexts) {
    int32_t& slot = vocab_.ids_.*row.slot;
    if (slot != kNoToken) continue;
    const auto id = vocab_.find(row.text);
    if (!id) continue;
    slot = *id;
    attributes(*id) |= attribute::control;
  }
}

void SpecialIdRules::mark_unused_controls() {
  for (int32_t id = 0; id < vocab_.n_tokens_; ++id) {
    if (vocab_.has(id, attribute::control) && contains(vocab_.text(id), "unused")) attributes(id) |= attribute::unused;
  }
}

void SpecialIdRules::collect_eog() {
  const SpecialIds& ids = vocab_.ids_;
  for (const int32_t id : {ids.fim_pad, ids.fim_rep, ids.fim_sep}) {
    if (id != kNoToken) eog_.insert(id);
  }
  for (const std::string_view text : kEogTexts) {
    const auto id = vocab_.find(text);
    if (!id) continue;
    eog_.insert(*id);
    attributes(*id) |= attribute::control;
  }
  for (const std::string_view text : kShownTexts) {
    if (const auto id = vocab_.find(text)) attributes(*id) = attribute::user_defined;
  }
  for (const int32_t id : {ids.eos, ids.eot, ids.eom}) {
    if (id == kNoToken) continue;
    if (!eog_.insert(id).second) continue;
    vocab_.warnings_.push_back(
        fmt::format("token {} '{}' ends a turn but is no well-known end token", id, vocab_.text(id)));
  }
}

bool SpecialIdRules::in_eog(std::string_view text) const {
  const auto id = vocab_.find(text);
  return id && eog_.contains(*id);
}

void SpecialIdRules::resolve_conflicts() {
  const bool has_call = in_eog("<|call|>") || in_eog("<|calls|>");
  const bool harmony = in_eog("<|end|>") && has_call && (in_eog("<|return|>") || in_eog("<|flush|>"));
  if (harmony) {
    // There it ends a message, not the turn.
    const int32_t end = *vocab_.find("<|end|>");
    eog_.erase(end);
    attributes(end) = attribute::user_defined;
  }
  if (in_eog("</s>") && (in_eog("<|tool_response>") || in_eog("<|plamo:eos|>"))) {
    // There it is the HTML tag.
    const int32_t tag = *vocab_.find("</s>");
    eog_.erase(tag);
    attributes(tag) = attribute::normal;
  }
}

void SpecialIdRules::add_attribute(std::string_view text, uint16_t mask) {
  if (const auto id = vocab_.find(text)) attributes(*id) |= mask;
}

void SpecialIdRules::set_strip_attributes() {
  const std::string_view pre = metadata_.get_string("tokenizer.ggml.pre").value_or("");
  const std::string_view architecture = metadata_.get_string("general.architecture").value_or("");
  std::string name(metadata_.get_string("general.name").value_or(""));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  if (contains(pre, "jina-v2-de") || contains(pre, "jina-v2-es") || contains(pre, "jina-v2-code") ||
      architecture == "nomic-bert-moe" || architecture == "jina-bert-v3") {
    add_attribute("<mask>", attribute::lstrip);
  } else if (contains(name, "phi-3") || contains(name, "phi3")) {
    constexpr uint16_t kSpecial = attribute::control | attribute::user_defined | attribute::unknown;
    for (int32_t id = 0; id < vocab_.n_tokens_; ++id) {
      if (vocab_.has(id, kSpecial)) attributes(id) |= attribute::rstrip;
    }
    add_attribute("</s>", attribute::rstrip);
    for (const std::string_view text : {"<unk>", "<s>", "<|endoftext|>"}) {
      if (const auto id = vocab_.find(text)) attributes(*id) &= static_cast<uint16_t>(~attribute::rstrip);
    }
  } else if (contains(name, "modern-bert")) {
    add_attribute("[MASK]", attribute::lstrip);
  }
}

}  // namespace brisk::tokenizer
