#include "base/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/loaded_model.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"
#include "cli/standard_output.hpp"
#include "tools/inspect.hpp"

#include <fmt/format.h>

namespace brisk::cli {

int inspect_command(const ProgramContext& context) {
  const Options options = parse_options(context.args, {context.code, true, context.environment});
  if (const auto code = answer_information(options, context)) return *code;
  std::string name = options.model;
  if (name.empty() && !options.positional.empty()) name = options.positional.front();
  if (name.empty()) throw UsageError(ErrorCode::invalid_argument, "usage: brisk inspect FILE [--json]\n");
  tools::InspectOptions how;
  how.json = options.json;
  const tools::InspectResult result = tools::inspect(find_model(name, context.environment), how);
  put_output(result.text);
  if (!result.text.ends_with('\n')) put_output("\n");
  return result.ok ? kSuccess : kModelProblem;
}

}  // namespace brisk::cli
