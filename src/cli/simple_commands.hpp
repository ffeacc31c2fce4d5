#pragma once

#include "cli/options.hpp"
#include "cli/program_list.hpp"

#include <optional>
#include <string>

namespace brisk::cli {

std::string version_text();
std::string overview();
std::string program_help(const ProgramContext& context);

/// Prints what --help, --version, --list-devices or --completion-bash ask for and returns the exit code; nullopt when
/// none of them was given.
std::optional<int> answer_information(const Options& options, const ProgramContext& context);

}  // namespace brisk::cli
