#include "cli/exit_code.hpp"
#include "cli/loaded_model.hpp"
#include "cli/option_parser.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"
#include "cli/standard_output.hpp"

#include <fmt/format.h>

namespace brisk::cli {

int devices_command(const ProgramContext& context) {
  const Options options = parse_options(context.args, {context.code, false, context.environment});
  if (const auto code = answer_information(options, context)) return *code;
  constexpr uint64_t kMiB = 1024 * 1024;
  const auto registry = make_registry(context.environment);
  for (const Device* device : registry->devices()) {
    const auto [free, total] = device->memory();
    put_output(fmt::format("{}: {} ({} MiB, {} MiB free)\n", device->name(), device->description(), total / kMiB,
                           free / kMiB));
  }
  for (Backend* backend : registry->backends()) {
    std::string features;
    for (const auto& [name, value] : backend->features()) features += fmt::format(" {}={}", name, value);
    put_output(fmt::format("{} features:{}\n", backend->name(), features));
  }
  return kSuccess;
}

}  // namespace brisk::cli
