#pragma once

#include "cli/option_parser.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::cli {

/// How a program was called.
struct ProgramContext {
  std::string_view code;          ///< of the program's row
  std::string called_as;          ///< "brisk run", "llama-completion", ...
  bool native = true;             ///< by brisk's own name; else formats and exit codes are llama.cpp's
  std::vector<std::string> args;  ///< without that name
  Environment environment;
};

/// One program: a subcommand of brisk, names of llama.cpp's programs, or both.
struct ProgramRow {
  std::string_view code;     ///< as in OptionRow::who
  std::string_view command;  ///< subcommand of brisk; empty: none
  std::string_view aliases;  ///< program names that it answers to, blank-separated
  std::string_view summary;
  int (*run)(const ProgramContext&);  ///< returns the exit code; null: not there yet
};

std::span<const ProgramRow> program_list();

/// By subcommand or by program name; null: unknown.
const ProgramRow* find_command(std::string_view command);
const ProgramRow* find_alias(std::string_view program_name);

/// The message for a command that does not exist, with the nearest one that does.
std::string unknown_command(std::string_view command);

/// For the documentation: the names of the programs with these codes.
std::string program_names(std::string_view codes);

// The programs.
int run_command(const ProgramContext& context);
int inspect_command(const ProgramContext& context);
int tokenize_command(const ProgramContext& context);
int perplexity_command(const ProgramContext& context);
int logits_command(const ProgramContext& context);
int bench_command(const ProgramContext& context);
int devices_command(const ProgramContext& context);
int version_command(const ProgramContext& context);
int help_command(const ProgramContext& context);

}  // namespace brisk::cli
