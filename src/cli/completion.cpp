#include "cli/completion.hpp"

#include "base/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_parser.hpp"
#include "cli/printer.hpp"
#include "cli/terminal.hpp"
#include "cli/timing_report.hpp"

#include <algorithm>
#include <optional>

namespace brisk::cli {
namespace {

using tokenizer::Tokenizer;

// Prompt tokens beyond this distance from the context's end are refused, since nothing could be generated.
constexpr int32_t kReserve = 4;

class Completion {
 public:
  Completion(const RunContext& context, bool chat)
      : context_(context),
        options_(context.options),
        tokenizer_(*context.loaded.tokenizer),
        chat_(chat),
        interactive_(options_.interactive || (chat && !(options_.single_turn && options_.prompt_given))),
        printer_(context.log, options_.color),
        reader_(!options_.simple_io && is_terminal(kInput), options_.multiline_input),
        budget_(options_.n_predict) {}

  int run() {
    tokens_ = first_prompt();
    // A chat that begins with the user's message has nothing to compute before it.
    const bool asks_first = interactive_ && (options_.interactive_first || (chat_ && !options_.prompt_given));
    if (tokens_.empty() && !asks_first) {
      context_.log.error("input is empty");
      return kEmptyInput;
    }
    const auto most = static_cast<size_t>(context_.generator.n_ctx() - kReserve);
    if (tokens_.size() > most) {
      context_.log.error("llama_completion: prompt is too long ({} tokens, max {})", tokens_.size(), most);
      return kFailure;
    }
    report_prompt();
    if (budget_ != 0 || interactive_) echo();
    const int code = loop(asks_first);
    printer_.text("\n\n");
    if (options_.perf) report_timings(context_.log, total_, context_.loaded.load_ms);
    if (code == kInterrupted) context_.log.info("Interrupted by user");
    return code;
  }

 private:
  [[nodiscard]] std::vector<int32_t> first_prompt() {
    if (!chat_) return tokenizer_.encode(options_.prompt, {.add_special = true, .parse_special = true});
    if (!options_.system_prompt.empty()) messages_.push_back({"system", options_.system_prompt});
    const bool has_user = options_.prompt_given && !options_.prompt.empty();
    if (has_user) messages_.push_back({"user", options_.prompt});
    if (messages_.empty()) return {};
    return encode_segments(tokenizer_, chat::apply(*context_.format.format, messages_, has_user), true);
  }

  void report_prompt() {
    if (!options_.verbose_prompt) return;
    context_.log.info("number of tokens in prompt = {}", tokens_.size());
    for (const int32_t id : tokens_) context_.log.info("{:6} -> '{}'", id, tokenizer_.piece(id, true));
  }

  void echo() {
    if (!options_.display_prompt) return;
    std::string text;
    for (const int32_t id : tokens_) text += tokenizer_.piece(id, options_.special);
    printer_.text(Style::prompt, text);
  }

  int loop(bool asks_first) {
    bool asking = asks_first;
    while (asking || interactive_ || budget_ != 0) {
      if (asking) {
        if (!take_input()) return interrupted_at_prompt_ ? kInterrupted : kSuccess;
        // An empty line gives control back to the model, which needs something to go on from.
        asking = tokens_.empty();
        if (asking) continue;
        if (options_.single_turn) interactive_ = false;
        // In interactive mode an overdrawn budget gives control back at once; without, it has no end.
        if (interactive_ && options_.n_predict >= 0 && budget_ <= 0) {
          budget_ = options_.n_predict;
          asking = true;
        }
        continue;
      }
      const auto end = answer();
      if (end) return *end;
      if (!interactive_) return kSuccess;
      asking = true;
    }
    return kSuccess;
  }

  // Generates until something ends it; an exit code ends the program.
  std::optional<int> answer() {
    engine::Request request = base_request(options_);
    request.prompt = tokens_;
    const int32_t room = context_.generator.n_ctx() - static_cast<int32_t>(tokens_.size());
    const bool limited = budget_ >= 0;
    const bool by_context = !options_.context_shift && (!limited || budget_ > room);
    request.n_predict = by_context ? std::max(room, 0) : limited ? budget_ : -1;
    const Generation result =
        context_.generator.run(std::move(request), [this](std::string_view text) { printer_.text(text); });
    add(total_, result.timings);
    tokens_.insert(tokens_.end(), result.tokens.begin(), result.tokens.end());
    if (limited) budget_ = std::max(0, budget_ - static_cast<int32_t>(result.tokens.size()));
    return after(result, by_context);
  }

  std::optional<int> after(const Generation& result, bool by_context) {
    using engine::FinishReason;
    if (chat_) messages_.push_back({"assistant", result.text});
    switch (result.reason) {
      case FinishReason::failed:
        context_.log.error("{}", result.error);
        return kFailure;
      case FinishReason::cancelled:
        if (!interactive_) return kInterrupted;
        clear_interrupts();
        turn_is_open_ = true;
        return std::nullopt;
      case FinishReason::end_of_generation:
        if (!interactive_) {
          printer_.text(" [end of text]\n");
        } else {
          end_interactive_answer();
        }
        return std::nullopt;
      case FinishReason::length:
        if (by_context) return context_is_full();
        budget_ = interactive_ ? options_.n_predict : 0;
        return std::nullopt;
      case FinishReason::context_full:
        return context_is_full();
      case FinishReason::stop_text:
        return std::nullopt;
    }
    return std::nullopt;
  }

  void end_interactive_answer() {
    // The first reverse prompt takes the place of what the model would have asked next.
    if (!chat_ && !options_.reverse_prompts.empty()) {
      const auto tokens = tokenizer_.encode(options_.reverse_prompts.front(), {false, true});
      tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    }
    printer_.text("\n");
  }

  int context_is_full() {
    context_.log.warn("context full and context shift is disabled => stopping");
    return kSuccess;
  }

  // False at the end of the input.
  bool take_input() {
    const bool edits = reader_.edits();
    printer_.text(!chat_ ? "" : edits ? "\n" : "\n> ");
    if (!chat_ && options_.in_prefix_bos && tokenizer_.vocab().bos() >= 0) tokens_.push_back(tokenizer_.vocab().bos());
    if (!chat_) printer_.text(options_.in_prefix);
    printer_.set(Style::input);
    auto line = reader_.read(chat_ && edits ? "> " : "");
    printer_.set(Style::reset);
    if (!line) {
      interrupted_at_prompt_ = reader_.interrupted();
      if (!interrupted_at_prompt_) printer_.text("EOF by user\n");
      return false;
    }
    if (line->empty()) return true;
    if (!chat_) printer_.text(options_.in_suffix);
    if (options_.escape) *line = unescape(*line);
    append_turn(*line);
    return true;
  }

  void append_turn(const std::string& line) {
    if (chat_ && turn_is_open_) close_turn();
    turn_is_open_ = false;
    const std::vector<int32_t> input = chat_ ? user_turn(line) : tokenizer_.encode(line, {false, false});
    const auto append = [this](const std::vector<int32_t>& ids) {
      tokens_.insert(tokens_.end(), ids.begin(), ids.end());
    };
    if (!chat_) append(tokenizer_.encode(options_.in_prefix, {false, true}));
    append(input);
    if (!chat_) append(tokenizer_.encode(options_.in_suffix, {false, true}));
    if (options_.n_predict >= 0) budget_ -= static_cast<int32_t>(input.size());
  }

  // The user stopped the answer: its turn has no end yet.
  void close_turn() {
    const auto& vocab = tokenizer_.vocab();
    const int32_t end = vocab.eot() >= 0 ? vocab.eot() : vocab.eos();
    if (end >= 0) tokens_.push_back(end);
  }

  // What the message adds to the conversation. The model's own end token replaces the text that a format puts after an
  // answer, but for the newline behind it; llama-completion puts that newline after a system message, too.
  std::vector<int32_t> user_turn(const std::string& line) {
    const bool first = tokens_.empty();
    const std::string before = chat::join(chat::apply(*context_.format.format, messages_, false));
    messages_.push_back({"user", line});
    std::vector<chat::Segment> turn = chat::apply_last(*context_.format.format, messages_, true);
    if (messages_.size() > 1 && before.ends_with('\n')) turn.insert(turn.begin(), {"\n", true});
    return encode_segments(tokenizer_, turn, first);
  }

  const RunContext& context_;
  const Options& options_;
  const Tokenizer& tokenizer_;
  bool chat_;
  bool interactive_;
  Printer printer_;
  LineReader reader_;
  int32_t budget_;  // tokens until control goes back; negative: no limit
  std::vector<int32_t> tokens_;
  std::vector<chat::Message> messages_;
  engine::Timings total_;
  bool turn_is_open_ = false;
  bool interrupted_at_prompt_ = false;
};

}  // namespace

engine::Request base_request(const Options& options) {
  engine::Request request;
  request.sampling = options.sampling;
  request.ignore_eos = options.ignore_eos;
  request.n_keep = options.n_keep;
  request.context_shift = options.context_shift;
  request.n_probs = options.n_probs;
  request.stop = options.reverse_prompts;
  request.emit_stop = true;
  request.special = options.special;
  return request;
}

int run_completion(const RunContext& context, bool chat) { return Completion(context, chat).run(); }

}  // namespace brisk::cli
