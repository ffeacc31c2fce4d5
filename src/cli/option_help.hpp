#pragma once

#include "cli/option_table.hpp"

#include <string>
#include <string_view>

namespace brisk::cli {

/// The lines about one option: names, value, and the text from column 40 on.
std::string option_usage(const OptionRow& row);

/// All options of a program, in three groups as llama.cpp's programs print them.
std::string option_help(std::string_view program);

/// docs/flags.md: every option, with its programs and whether it is there yet.
std::string options_markdown();

/// A script for bash that completes option names, and file names where an option takes one.
std::string completion_script();

}  // namespace brisk::cli
