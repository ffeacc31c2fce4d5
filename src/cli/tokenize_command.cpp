#include "cli/exit_code.hpp"
#include "cli/loaded_model.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"
#include "cli/terminal.hpp"
#include "tools/tokenize.hpp"

namespace brisk::cli {
namespace {

// The file wins over -p and keeps its last newline here; standard input needs its flag.
std::optional<std::string> source_text(const Options& options) {
  if (options.from_stdin) return options.escape ? unescape(read_all_input()) : read_all_input();
  if (options.prompt_from_file) return options.raw_file_prompt;
  if (options.prompt.empty()) return std::nullopt;
  return options.prompt;
}

}  // namespace

int tokenize_command(const ProgramContext& context) {
  Options defaults;
  defaults.log.prefix = defaults.log.timestamps = !context.native;
  Options options = parse_options(context.args, {context.code, context.native, context.environment}, defaults);
  if (const auto code = answer_information(options, context)) return *code;
  if (!context.native && options.model.empty()) {
    throw UsageError(ErrorCode::invalid_argument, "error: --model is required\n\n");
  }
  if (!options.positional.empty() && !options.prompt_given) options.prompt = options.positional.front();
  Log log(options.log, false);
  for (const auto& notice : options.notices) log.notice(notice);
  for (const auto& warning : options.warnings) log.warn("{}", warning);
  const auto text = source_text(options);
  if (!text) {
    log.error("error: must specify one of: --stdin, --file or --prompt");
    return context.native ? kUsage : kFailure;
  }
  const auto file = open_model_file(options, context.environment);
  const auto tokenizer = tokenizer::Tokenizer::load(file->metadata());
  tools::TokenizeOptions how;
  how.ids_only = options.ids;
  how.show_count = options.show_count;
  how.add_bos = !options.no_bos;
  how.parse_special = options.parse_special;
  std::string report;
  tools::tokenize(*tokenizer, *text, how, report);
  log.output(report);
  return kSuccess;
}

}  // namespace brisk::cli
