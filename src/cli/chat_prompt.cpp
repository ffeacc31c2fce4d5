#include "cli/chat_prompt.hpp"

#include "base/error.hpp"

namespace brisk::cli {

const chat::Format* asked_format(const Options& options) {
  if (options.chat_template.empty()) return nullptr;
  const chat::Format* format = chat::find_format(options.chat_template);
  if (format == nullptr) format = chat::recognise(options.chat_template, options.jinja);
  if (format == nullptr) {
    fail(ErrorCode::unsupported,
         "the supplied chat template is not supported: {}\nnote: templates are recognised, not interpreted; the names "
         "are: {}",
         options.chat_template, chat::format_names());
  }
  return format;
}

ChosenFormat choose_format(const Options& options, const std::string& model_template) {
  if (const chat::Format* format = asked_format(options)) return {format, "by --chat-template"};
  if (model_template.empty()) return {nullptr, "the model has no chat template"};
  if (const chat::Format* format = chat::recognise(model_template, options.jinja)) {
    return {format, "recognised from the model's template"};
  }
  return {nullptr, "the model's chat template is not one that brisk recognises"};
}

std::vector<int32_t> encode_segments(const tokenizer::Tokenizer& tokenizer, std::span<const chat::Segment> segments,
                                     bool add_special) {
  std::vector<tokenizer::TextPart> parts;
  parts.reserve(segments.size());
  for (const auto& segment : segments) parts.push_back({segment.text, segment.is_template});
  std::vector<int32_t> tokens = tokenizer.encode(parts, add_special);
  const int32_t bos = tokenizer.vocab().bos();
  if (add_special && bos >= 0 && tokens.size() > 1 && tokens[0] == bos && tokens[1] == bos)
    tokens.erase(tokens.begin());
  return tokens;
}

}  // namespace brisk::cli
