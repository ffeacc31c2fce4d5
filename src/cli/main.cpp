#include "base/error.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"
#include "cli/standard_output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>

namespace brisk::cli {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// By the name of the program, else by the first word.
int dispatch(const std::string& name, std::vector<std::string> args) {
  const ProgramRow* row = find_alias(name);
  ProgramContext context{.code = {}, .called_as = name, .native = row == nullptr, .args = {}, .environment = variable};
  if (row == nullptr) {
    if (args.empty()) args.emplace_back("help");
    std::string command = args.front();
    if (command == "--help" || command == "-h") command = "help";
    if (command == "--version") command = "version";
    row = find_command(command);
    if (row == nullptr) throw UsageError(ErrorCode::invalid_argument, unknown_command(command));
    context.called_as = "brisk " + command;
    args.erase(args.begin());
  }
  if (row->run == nullptr) {
    fmt::print(stderr, "error: {} ({}) is not part of this version of brisk yet\n", context.called_as, row->summary);
    return context.native ? kUsage : kFailure;
  }
  context.code = row->code;
  context.args = std::move(args);
  return row->run(context);
}

int guarded(const std::string& name, std::vector<std::string> args) {
  const bool native = find_alias(name) == nullptr;
  try {
    return dispatch(name, std::move(args));
  } catch (const UsageError& error) {
    fmt::print(stderr, "{}", error.what());
    return native ? kUsage : kFailure;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return exit_code_of(error.code(), native);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory\n");
    return exit_code_of(ErrorCode::out_of_memory, native);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {} (a bug of brisk; please report it)\n", error.what());
    return exit_code_of(ErrorCode::internal, native);
  }
}

// Text that did not reach its reader is a failure, whatever the command thinks of its own work.
int checked_output(const std::string& name, int code) {
  const int error = output_error();
  if (error == 0) return code;
  // The reader has had enough (head, less): no news for a person; the code is what shells give a program that died of
  // it.
  if (error == EPIPE) return kReaderGone;
  fmt::print(stderr, "error: cannot write to standard output: {}\n", std::strerror(error));
  return exit_code_of(ErrorCode::io, find_alias(name) == nullptr);
}

}  // namespace
}  // namespace brisk::cli

int main(int argc, char** argv) {
  brisk::cli::guard_standard_streams();
  brisk::cli::catch_interrupts();
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "brisk";
  return brisk::cli::checked_output(name, brisk::cli::guarded(name, {argv + std::min(argc, 1), argv + argc}));
}
