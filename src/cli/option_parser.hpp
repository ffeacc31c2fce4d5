#pragma once

#include "base/error.hpp"
#include "cli/option_table.hpp"
#include "cli/options.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::cli {

/// A mistake on the command line or in the environment. `what()` is the whole text for the user, usage included.
class UsageError : public Error {
 public:
  UsageError(ErrorCode code, const std::string& text) : Error(code, text) {}
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct ParseContext {
  std::string_view program;  ///< code of the program, as in OptionRow::who
  bool positional = false;   ///< words that are no options are collected instead of refused
  Environment environment;   ///< may be empty
};

/// Options from, in rising order of precedence, `defaults`, the environment and `args` (without the program's name).
/// Parsing ends at an option that asks for help, version or a list. Throws UsageError.
Options parse_options(std::span<const std::string> args, const ParseContext& context, Options defaults = {});

/// The option of the program with that spelling; '_' counts as '-' in names that begin with "--". Null: none.
const OptionRow* find_option(std::string_view spelling, std::string_view program);

/// The program's spelling nearest to `unknown`, or empty when none is near.
std::string nearest_option(std::string_view unknown, std::string_view program);

/// \n \r \t \' \" \\ and \xHH replaced; other sequences stay as they are.
std::string unescape(std::string_view text);

}  // namespace brisk::cli
