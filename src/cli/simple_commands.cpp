// The commands that need no model: help, version, devices.
#include "cli/simple_commands.hpp"
#include "cli/build_info.hpp"
#include "cli/exit_code.hpp"
#include "cli/option_help.hpp"
#include "cli/program_list.hpp"
#include "cli/standard_output.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace brisk::cli {

std::string version_text() {
  return fmt::format("version: {} (build {}, commit {})\nbuilt with {} for {}\n", kVersion, kBuildNumber, kCommit,
                     kCompiler, kTarget);
}

std::string overview() {
  std::string out = "brisk runs language models in GGUF files.\n\nusage: brisk COMMAND [OPTIONS]\n\n";
  for (const auto& row : program_list()) {
    if (row.run != nullptr && !row.command.empty()) out += fmt::format("  {:<12}{}\n", row.command, row.summary);
  }
  out +=
      "\nExamples:\n"
      "  brisk run \"Why is the sky blue?\"\n"
      "  brisk run -m model.gguf -p \"Once upon a time\" -n 100\n"
      "  brisk inspect model.gguf\n\n"
      "'brisk COMMAND --help' lists the options of a command.\n";
  return out;
}

std::string program_help(const ProgramContext& context) {
  return fmt::format("{}\nusage: {} [OPTIONS]\n", option_help(context.code), context.called_as);
}

std::optional<int> answer_information(const Options& options, const ProgramContext& context) {
  if (options.help) {
    put_output(program_help(context));
  } else if (options.version) {
    context.native ? put_output(version_text()) : fmt::print(stderr, "{}", version_text());
  } else if (options.list_devices) {
    put_output("Available devices:\n  (none)\n");
  } else if (options.completion_bash) {
    put_output(completion_script());
  } else {
    return std::nullopt;
  }
  return kSuccess;
}

int help_command(const ProgramContext& context) {
  const Options options = parse_options(context.args, {"help", true, context.environment});
  if (options.markdown) {
    put_output(options_markdown());
    return kSuccess;
  }
  if (options.positional.empty()) {
    put_output(overview());
    return kSuccess;
  }
  const std::string& name = options.positional.front();
  const ProgramRow* row = find_command(name);
  if (row == nullptr) row = find_alias(name);
  if (row == nullptr) throw UsageError(ErrorCode::invalid_argument, unknown_command(name));
  put_output(fmt::format("{}: {}{}\n\n{}", name, row->summary,
                         row->run == nullptr ? " (not part of this version yet)" : "", option_help(row->code)));
  return kSuccess;
}

int version_command(const ProgramContext& /*context*/) {
  put_output(version_text());
  return kSuccess;
}

}  // namespace brisk::cli
