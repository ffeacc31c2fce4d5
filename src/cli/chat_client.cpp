#include "cli/chat_client.hpp"

#include "base/error.hpp"
#include "cli/attachments.hpp"
#include "cli/build_info.hpp"
#include "cli/exit_code.hpp"
#include "cli/file_type.hpp"
#include "cli/interrupt.hpp"
#include "cli/printer.hpp"
#include "cli/timing_report.hpp"

#include <array>
#include <filesystem>
#include <fstream>

namespace brisk::cli {
namespace {

constexpr size_t kEchoLimit = 500;
constexpr size_t kMostFiles = 100;

enum class Next { ask, answer, leave };

class ChatClient {
 public:
  explicit ChatClient(const RunContext& context)
      : context_(context),
        options_(context.options),
        printer_(context.log, options_.color),
        reader_(!options_.simple_io && is_terminal(kInput), options_.multiline_input) {
    if (!options_.system_prompt.empty()) messages_.push_back({"system", options_.system_prompt});
    if (options_.output_file.empty()) return;
    record_.open(options_.output_file, std::ios::binary);
    if (!record_) fail(ErrorCode::io, "cannot write '{}'", options_.output_file);
  }

  int run() {
    if (options_.prompt_given && !options_.prompt.empty()) {
      if (!context_.native) show_prompt(options_.prompt);
      say(options_.prompt);
    }
    while (!(options_.single_turn && answered_)) {
      const auto line = read();
      if (!line) break;
      if (handle(*line) == Next::leave) break;
    }
    if (!context_.native) printer_.text("\n\nExiting...\n");
    return exit_code_;
  }

 private:
  struct Command {
    std::string_view name;
    Next (ChatClient::*handle)(const std::string& argument);
  };

  std::optional<std::string> read() {
    const bool edits = reader_.edits();
    if (!context_.native) printer_.text(edits ? "\n" : "\n> ");
    printer_.set(Style::input);
    auto line = reader_.read(edits ? "> " : "");
    printer_.set(Style::reset);
    // Ctrl-C at the prompt leaves; llama-cli does so with success.
    if (!line && reader_.interrupted() && context_.native) exit_code_ = kInterrupted;
    return line;
  }

  void show_prompt(const std::string& text) {
    std::string shown = text;
    if (shown.size() > kEchoLimit) shown = shown.substr(0, kEchoLimit) + " ... (truncated)";
    printer_.text(Style::input, fmt::format("\n> {}\n", shown));
  }

  Next handle(const std::string& line) {
    static constexpr std::array<Command, 6> kCommands{{{"/exit", &ChatClient::exit},
                                                       {"/regen", &ChatClient::regenerate},
                                                       {"/clear", &ChatClient::clear},
                                                       {"/read", &ChatClient::read_file},
                                                       {"/glob", &ChatClient::read_pattern},
                                                       {"/help", &ChatClient::help}}};
    if (line.find_first_not_of(" \t\r\n") == std::string::npos) return Next::ask;
    for (const auto& command : kCommands) {
      if (!line.starts_with(command.name)) continue;
      const size_t argument = line.find_first_not_of(" \t", command.name.size());
      return (this->*command.handle)(argument == std::string::npos ? "" : line.substr(argument));
    }
    return say(line);
  }

  Next exit(const std::string& /*argument*/) { return Next::leave; }

  Next help(const std::string& /*argument*/) {
    tell(
        "/exit         leave (also Ctrl-D, or Ctrl-C at the prompt)\n"
        "/regen        answer the last message again\n"
        "/clear        forget the conversation, but not the system prompt\n"
        "/read FILE    put a text file in front of the next message\n"
        "/glob PATTERN the same for all files that match\n"
        "/help         this list\n"
        "Ctrl-C stops an answer.\n");
    return Next::ask;
  }

  Next regenerate(const std::string& /*argument*/) {
    if (messages_.size() < 2 || messages_.back().role != "assistant") {
      complain("No message to regenerate.");
      return Next::ask;
    }
    messages_.pop_back();
    return answer();
  }

  Next clear(const std::string& /*argument*/) {
    const bool has_system = !options_.system_prompt.empty();
    messages_.erase(messages_.begin() + (has_system ? 1 : 0), messages_.end());
    attached_.clear();
    tell("Chat history cleared.\n");
    return Next::ask;
  }

  Next read_file(const std::string& name) {
    const auto text = attachment(name);
    if (!text) {
      complain(fmt::format("file does not exist or cannot be opened: '{}'", name));
      return Next::ask;
    }
    attached_ += *text;
    note(fmt::format("User: Added text file: {}\n\n", name));
    tell(fmt::format("Loaded text from '{}'\n", name));
    return Next::ask;
  }

  Next read_pattern(const std::string& pattern) {
    for (const auto& name : glob(pattern, kMostFiles)) static_cast<void>(read_file(name));
    return Next::ask;
  }

  Next say(const std::string& text) {
    messages_.push_back({"user", attached_ + text});
    note(fmt::format("User:\n{}\n\n", text));
    attached_.clear();
    return answer();
  }

  Next answer() {
    engine::Request request = base_request(options_);
    request.n_predict = options_.n_predict < 0 ? -1 : options_.n_predict;
    request.emit_stop = false;
    request.prompt =
        encode_segments(*context_.loaded.tokenizer, chat::apply(*context_.format.format, messages_, true), true);
    const auto n_prompt = static_cast<int32_t>(request.prompt.size());
    if (n_prompt >= context_.generator.n_ctx()) return refuse(n_prompt);
    const Generation result =
        context_.generator.run(std::move(request), [this](std::string_view text) { printer_.text(text); });
    answered_ = true;
    messages_.push_back({"assistant", result.text});
    note(fmt::format("Assistant:\n{}\n\n", result.text));
    return end_answer(result);
  }

  Next refuse(int32_t n_prompt) {
    messages_.pop_back();
    answered_ = true;
    complain(fmt::format("request ({} tokens) exceeds the available context size ({} tokens), try increasing it",
                         n_prompt, context_.generator.n_ctx()));
    if (context_.native) exit_code_ = kContextFull;
    show_timings({});
    return Next::ask;
  }

  Next end_answer(const Generation& result) {
    printer_.text("\n");
    if (result.reason == engine::FinishReason::cancelled) {
      clear_interrupts();
      if (context_.native && options_.single_turn) exit_code_ = kInterrupted;
    }
    if (result.reason == engine::FinishReason::failed) {
      complain(result.error);
      if (context_.native) exit_code_ = kFailure;
    }
    if (result.reason == engine::FinishReason::context_full) context_.log.warn("{}", result.error);
    show_timings(result.timings);
    return Next::ask;
  }

  void show_timings(const engine::Timings& timings) {
    if (!options_.show_timings || !options_.perf) return;
    const double prompt = rate(timings.prompt_n, timings.prompt_ms);
    const double generation = rate(timings.predicted_n - 1, timings.predicted_ms);
    if (context_.native) {
      context_.log.info("{}", timing_line(timings, context_.loaded.load_ms));
    } else {
      printer_.text(Style::info,
                    fmt::format("\n[ Prompt: {:.1f} t/s | Generation: {:.1f} t/s ]\n", prompt, generation));
    }
  }

  // Standard output of `brisk run` is for answers; what the program itself has to say goes beside it.
  void tell(std::string_view text) {
    if (!context_.native) return printer_.text(text);
    if (text.ends_with('\n')) text.remove_suffix(1);
    context_.log.notice(text);
  }
  void complain(std::string_view why) {
    if (!context_.native) return printer_.text(Style::error, fmt::format("Error: {}\n", why));
    context_.log.error("{}", why);
  }
  void note(const std::string& text) {
    if (record_.is_open()) record_ << text << std::flush;
  }

  const RunContext& context_;
  const Options& options_;
  Printer printer_;
  LineReader reader_;
  std::ofstream record_;
  std::vector<chat::Message> messages_;
  std::string attached_;
  bool answered_ = false;
  int exit_code_ = kSuccess;
};

}  // namespace

std::string client_banner(const RunContext& context) {
  const auto& file = *context.loaded.file;
  std::string out = fmt::format("\n\nbrisk\n\nbuild      : {}\n", kVersion);
  out += fmt::format("model      : {}\n", file.path().filename().string());
  out += fmt::format("ftype      : {}\n", file_type_name(file));
  out += "modalities : text\n";
  if (!context.options.system_prompt.empty()) out += "using custom system prompt\n";
  out +=
      "\navailable commands:\n"
      "  /exit or Ctrl+C     stop or exit\n"
      "  /regen              regenerate the last response\n"
      "  /clear              clear the chat history\n"
      "  /read <file>        add a text file\n"
      "  /glob <pattern>     add text files using globbing pattern\n\n\n";
  return out;
}

int run_chat(const RunContext& context) { return ChatClient(context).run(); }

}  // namespace brisk::cli
