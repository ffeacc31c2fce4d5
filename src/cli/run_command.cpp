// brisk run, llama-completion and llama-cli: one program that answers under three names.
#include "base/error.hpp"
#include "cli/chat_client.hpp"
#include "cli/completion.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_output.hpp"
#include "cli/model_defaults.hpp"
#include "cli/printer.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"
#include "cli/timing_report.hpp"

#include <algorithm>

namespace brisk::cli {
namespace {

// llama-cli was the completion program until 2025; an option that only that one has brings it back.
std::string_view program_of(const ProgramContext& context) {
  if (context.code != "cli") return context.code;
  const bool old_style = std::any_of(context.args.begin(), context.args.end(), [](const std::string& arg) {
    return find_option(arg, "cli") == nullptr && find_option(arg, "cp") != nullptr;
  });
  return old_style ? "cp" : "cli";
}

Options defaults_of(std::string_view program, bool native) {
  Options options;
  options.jinja = program != "cp";
  options.display_prompt = !native;
  options.log.prefix = !native;
  options.log.timestamps = !native;
  if (program == "cli") options.log.verbosity = static_cast<int>(Level::error);
  return options;
}

void take_positional(Options& options) {
  for (const auto& word : options.positional) {
    if (!options.prompt.empty()) options.prompt += ' ';
    options.prompt += word;
    options.prompt_given = true;
  }
}

void tell_warnings(Options& options, std::string_view program, Log& log) {
  for (const auto& notice : options.notices) log.notice(notice);
  for (const auto& warning : options.warnings) log.warn("{}", warning);
  constexpr int32_t kLeast = 8;
  if (options.n_ctx > 0 && options.n_ctx < kLeast) {
    log.warn("{}minimum context size is {}, using minimum size.",
             program == "run" ? "" : "llama_completion: warning: ", kLeast);
    options.n_ctx = kLeast;
  }
  if (program != "cp") return;
  if (options.rope.freq_base != 0.0F) {
    log.warn("llama_completion: warning: changing RoPE frequency base to {}.", options.rope.freq_base);
  }
  if (options.rope.freq_scale != 0.0F) {
    log.warn("llama_completion: warning: scaling RoPE frequency by {}.", options.rope.freq_scale);
  }
}

int finish_answer(const RunContext& context, const Generation& result) {
  using engine::FinishReason;
  if (context.options.perf) context.log.info("{}", timing_line(result.timings, context.loaded.load_ms));
  switch (result.reason) {
    case FinishReason::failed:
      context.log.error("{}", result.error);
      return kFailure;
    case FinishReason::context_full:
      context.log.warn("{}", result.error);
      return result.timings.predicted_n > 0 ? kSuccess : kContextFull;
    case FinishReason::cancelled:
      return kInterrupted;
    default:
      return kSuccess;
  }
}

// One answer on standard output, as text or as JSON.
int answer_once(const RunContext& context, std::vector<int32_t> prompt, bool chat) {
  const Options& options = context.options;
  if (prompt.empty()) {
    context.log.error("the prompt is empty; give one with -p, -f or on standard input");
    return kEmptyInput;
  }
  if (prompt.size() >= static_cast<size_t>(context.generator.n_ctx())) {
    fail(ErrorCode::context_full,
         "the prompt has {} tokens, the context has room for {}; raise --ctx-size or shorten it", prompt.size(),
         context.generator.n_ctx());
  }
  if (options.verbose_prompt) {
    for (const int32_t id : prompt) context.log.info("{:6} -> '{}'", id, context.loaded.tokenizer->piece(id, true));
  }
  Printer printer(context.log, options.color);
  if (options.display_prompt && !options.json) {
    std::string shown;
    for (const int32_t id : prompt) shown += context.loaded.tokenizer->piece(id, options.special);
    printer.text(Style::prompt, shown);
  }
  engine::Request request = base_request(options);
  request.prompt = prompt;
  request.n_predict = options.n_predict < 0 ? -1 : options.n_predict;
  request.emit_stop = !chat;
  const Generation result = context.generator.run(std::move(request), [&](std::string_view text) {
    if (!options.json) printer.text(text);
  });
  if (options.json) {
    printer.text(json_of(prompt, result, context.loaded.load_ms));
  } else if (!result.text.ends_with('\n')) {
    printer.text("\n");
  }
  return finish_answer(context, result);
}

std::vector<int32_t> chat_prompt(const RunContext& context) {
  std::vector<chat::Message> messages;
  if (!context.options.system_prompt.empty()) messages.push_back({"system", context.options.system_prompt});
  messages.push_back({"user", context.options.prompt});
  return encode_segments(*context.loaded.tokenizer, chat::apply(*context.format.format, messages, true), true);
}

int run_native(const RunContext& context, bool chat) {
  const Options& options = context.options;
  if (options.interactive) return run_completion(context, false);
  const bool goes_on = options.conversation == Switch::on && is_terminal(kInput) && !options.single_turn;
  const bool asks = !options.prompt_given || goes_on;
  if (chat && asks && !options.json) {
    context.log.info("{}", context.loaded.model->summary());
    context.log.info("/help lists the commands, Ctrl-D leaves");
    return run_chat(context);
  }
  if (options.tokens_given) return answer_once(context, options.tokens, false);
  if (chat) return answer_once(context, chat_prompt(context), true);
  return answer_once(context, context.loaded.tokenizer->encode(options.prompt, {true, true}), false);
}

bool wants_chat(const Options& options, const ChosenFormat& format, Log& log, bool native) {
  const bool possible = format.format != nullptr;
  const bool wanted = options.conversation == Switch::on || (options.conversation == Switch::automatic && possible);
  const bool chat = wanted && !options.tokens_given && !options.interactive_first;
  if (chat && !possible) {
    fail(ErrorCode::unsupported,
         "no chat format: {}; name one with --chat-template, or use -no-cnv for plain completion", format.origin);
  }
  if (native && chat)
    log.info("chat in format {} ({}); -no-cnv for plain completion", format.format->name, format.origin);
  if (native && !chat && !possible) log.info("plain completion: {}", format.origin);
  return chat;
}

int run_loaded(const Options& asked, const ProgramContext& context, std::string_view program, Log& log) {
  const LoadedModel loaded = load_model(asked, context.environment, log);
  const Options options = with_model_defaults(asked, loaded.file->metadata(), log);
  Generator generator(loaded, runner_options(options, loaded, !context.native));
  if (options.warmup && options.n_predict != 0 && !context.native) generator.warm_up();
  RunContext run{options, loaded, generator, choose_format(options, loaded.chat_template()), log, context.native};
  if (program == "cli") {
    if (run.format.format == nullptr) run.format = {chat::find_format("chatml"), "the fallback"};
    log.output(client_banner(run));
    return run_chat(run);
  }
  const bool chat = wants_chat(options, run.format, log, context.native);
  return context.native ? run_native(run, chat) : run_completion(run, chat);
}

// The chat client shows its state on standard output.
int run_client(const Options& options, const ProgramContext& context, Log& log) {
  log.output("\n\nLoading model... ");
  try {
    return run_loaded(options, context, "cli", log);
  } catch (const Error& error) {
    log.output("Error: the server exited before becoming ready\n");
    log.error("{}", error.what());
    return error.code() == ErrorCode::cancelled ? kInterrupted : kFailure;
  }
}

}  // namespace

int run_command(const ProgramContext& context) {
  const std::string_view program = program_of(context);
  Options options =
      parse_options(context.args, {program, context.native, context.environment}, defaults_of(program, context.native));
  if (const auto code = answer_information(options, context)) return *code;
  if (!context.native && options.model.empty()) {
    throw UsageError(ErrorCode::invalid_argument, "error: --model is required\n\n");
  }
  static_cast<void>(asked_format(options));
  take_positional(options);
  if (options.tokens_given && options.prompt_given) {
    throw UsageError(ErrorCode::invalid_argument,
                     "error: --tokens and a prompt exclude each other; give one of them\n");
  }
  Log log(options.log, program == "cp" && !context.native);
  tell_warnings(options, program, log);
  const bool piped = context.native && !is_terminal(kInput);
  if (piped && !options.prompt_given && !options.tokens_given && !options.interactive) {
    options.prompt = read_all_input();
    options.prompt_given = true;
  }
  if (program == "cli") return run_client(options, context, log);
  return run_loaded(options, context, program, log);
}

}  // namespace brisk::cli
