#include "tools/perplexity.hpp"

#include "base/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/loaded_model.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"

#include <chrono>

namespace brisk::cli {
namespace {

Options defaults_of(const ProgramContext& context) {
  Options options;
  options.n_ctx = 512;
  options.escape = false;
  options.log.prefix = options.log.timestamps = !context.native;
  return options;
}

class Report {
 public:
  Report(Log& log, int32_t n_windows) : log_(log), n_windows_(n_windows) {}

  void add(const tools::Perplexity& running) {
    if (running.n_windows == 1) tell_time();
    log_.output(fmt::format("[{}]{:.4f},", running.n_windows, running.value));
  }

 private:
  // Scripts of the field read the first window from a line that begins with [1].
  void tell_time() {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    log_.info("perplexity: {:.2f} seconds per pass", seconds.count());
    log_.output(fmt::format("{:.2f} minutes\n", seconds.count() * n_windows_ / 60.0));
  }

  Log& log_;
  int32_t n_windows_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int measure(const Options& options, const ProgramContext& context, Log& log) {
  LoadedModel loaded = load_model(options, context.environment, log);
  const auto& vocab = loaded.tokenizer->vocab();
  const std::vector<int32_t> tokens = loaded.tokenizer->encode(options.prompt);
  const auto window = static_cast<size_t>(options.n_ctx);
  if (tokens.size() < 2 * window) {
    log.error("perplexity: you need at least {} tokens to evaluate perplexity with a context of {}", 2 * window,
              window);
    log.error("perplexity: the data file you provided tokenizes to only {} tokens", tokens.size());
    log.output("\n");
    return context.native ? kFailure : kSuccess;
  }
  model::Runner runner(*loaded.model, *loaded.device, runner_options(options, loaded, false));
  runner.set_abort([] { return interrupts() > 0; });
  tools::PerplexityOptions how;
  how.window = options.n_ctx;
  how.n_windows = options.n_chunks;
  if (vocab.add_bos() && vocab.bos() >= 0) how.bos = vocab.bos();
  const auto all = static_cast<int32_t>(tokens.size() / window);
  const int32_t n_windows = options.n_chunks < 0 ? all : std::min(all, options.n_chunks);
  log.info("perplexity: calculating perplexity over {} chunks, n_ctx={}, batch_size={}, n_seq=1", n_windows,
           options.n_ctx, options.n_batch);
  Report report(log, n_windows);
  const tools::Perplexity result =
      tools::perplexity(runner, tokens, how, [&](const tools::Perplexity& running) { report.add(running); });
  log.output("\n\n");
  log.info("Final estimate: PPL = {:.4f} +/- {:.5f}", result.value, result.error);
  return kSuccess;
}

}  // namespace

int perplexity_command(const ProgramContext& context) {
  Options options = parse_options(context.args, {context.code, false, context.environment}, defaults_of(context));
  if (const auto code = answer_information(options, context)) return *code;
  if (!context.native && options.model.empty()) {
    throw UsageError(ErrorCode::invalid_argument, "error: --model is required\n\n");
  }
  if (options.n_ctx == 0) {
    throw UsageError(ErrorCode::invalid_argument, "error: perplexity needs a context size above 0\n");
  }
  Log log(options.log, true);
  for (const auto& notice : options.notices) log.notice(notice);
  for (const auto& warning : options.warnings) log.warn("{}", warning);
  return measure(options, context, log);
}

}  // namespace brisk::cli
