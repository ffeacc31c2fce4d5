#include "base/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/loaded_model.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>

namespace brisk::cli {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

// Lengths of the pieces that the tokens are fed in: those of --split, else as many as -b allows; the rest in one.
std::vector<int32_t> pieces(const Options& options, size_t n_tokens) {
  std::vector<int32_t> lengths;
  auto left = static_cast<int64_t>(n_tokens);
  for (const int32_t length : options.split) {
    const int32_t taken = static_cast<int32_t>(std::min<int64_t>(length, left));
    if (taken > 0) lengths.push_back(taken);
    left -= taken;
  }
  while (left > 0) {
    lengths.push_back(static_cast<int32_t>(std::min<int64_t>(options.n_batch, left)));
    left -= lengths.back();
  }
  return lengths;
}

void write_rows(const model::Runner& runner, int32_t n_rows, const std::string& path, std::FILE* out) {
  for (int32_t i = 0; i < n_rows; ++i) {
    const auto row = runner.logits(static_cast<size_t>(i));
    if (std::fwrite(row.data(), sizeof(float), row.size(), out) != row.size()) {
      fail(ErrorCode::io, "cannot write to '{}': the disk may be full", path);
    }
  }
}

void write_logits(const Options& options, const LoadedModel& loaded, const std::vector<int32_t>& tokens) {
  model::RunnerOptions how = runner_options(options, loaded, false);
  if (tokens.size() > static_cast<size_t>(how.n_ctx)) {
    fail(ErrorCode::context_full, "the prompt has {} tokens, the context has room for {}; raise --ctx-size",
         tokens.size(), how.n_ctx);
  }
  model::Runner runner(*loaded.model, *loaded.device, how);
  runner.set_abort([] { return interrupts() > 0; });
  const File out(std::fopen(options.output_file.c_str(), "wb"));
  if (!out) fail(ErrorCode::io, "cannot write '{}'", options.output_file);
  int32_t position = 0;
  for (const int32_t length : pieces(options, tokens.size())) {
    model::Batch batch;
    for (int32_t i = 0; i < length; ++i) batch.add(tokens[static_cast<size_t>(position + i)], position + i, 0, true);
    if (!runner.decode(batch).ok()) fail(ErrorCode::context_full, "the context is full; raise --ctx-size");
    write_rows(runner, length, options.output_file, out.get());
    position += length;
  }
  if (std::fflush(out.get()) != 0)
    fail(ErrorCode::io, "cannot write to '{}': the disk may be full", options.output_file);
}

}  // namespace

int logits_command(const ProgramContext& context) {
  const Options options = parse_options(context.args, {context.code, false, context.environment});
  if (const auto code = answer_information(options, context)) return *code;
  if (options.output_file.empty()) throw UsageError(ErrorCode::invalid_argument, "error: -o FILE is required\n");
  Log log(options.log, false);
  for (const auto& notice : options.notices) log.notice(notice);
  const LoadedModel loaded = load_model(options, context.environment, log);
  const std::vector<int32_t> tokens =
      options.tokens_given ? options.tokens : loaded.tokenizer->encode(options.prompt, {true, true});
  if (tokens.empty()) {
    log.error("the prompt is empty; give one with --tokens or -p");
    return kEmptyInput;
  }
  write_logits(options, loaded, tokens);
  log.info("{} x {} logits in {}", loaded.model->params().n_vocab, tokens.size(), options.output_file);
  return kSuccess;
}

}  // namespace brisk::cli
