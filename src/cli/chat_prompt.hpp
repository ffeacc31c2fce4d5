#pragma once

#include "chat/format.hpp"
#include "cli/options.hpp"
#include "tokenizer/tokenizer.hpp"

#include <span>
#include <string>
#include <vector>

namespace brisk::cli {

/// The chat format in use and where it comes from, for the log.
struct ChosenFormat {
  const chat::Format* format = nullptr;  ///< null: none fits
  std::string origin;
};

/// What --chat-template names; null without that option. Throws Error(unsupported) when brisk does not know it.
const chat::Format* asked_format(const Options& options);

/// The format of --chat-template, else the one that recognises the model's template.
ChosenFormat choose_format(const Options& options, const std::string& model_template);

/// Special tokens are parsed in template text only, so that a message cannot forge a turn. With `add_special` the
/// beginning-of-text token is added as the vocabulary wants it, but never twice.
std::vector<int32_t> encode_segments(const tokenizer::Tokenizer& tokenizer, std::span<const chat::Segment> segments,
                                     bool add_special);

}  // namespace brisk::cli
