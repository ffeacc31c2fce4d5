#pragma once

#include "cli/completion.hpp"

#include <string>

namespace brisk::cli {

/// A conversation at the terminal, or with the lines of standard input. Under the name llama-cli it prints what that
/// program prints; as `brisk run` standard output carries the answers only. Returns the exit code.
int run_chat(const RunContext& context);

/// What llama-cli shows between loading and the first prompt.
std::string client_banner(const RunContext& context);

}  // namespace brisk::cli
