#pragma once

#include "model/hyper_params.hpp"
#include "sampling/params.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace brisk::cli {

enum class Switch : uint8_t { off, on, automatic };

/// Where a number is not set on the command line.
inline constexpr int32_t kUnset = INT32_MIN;

struct LogOptions {
  bool disabled = false;
  std::string file;
  Switch colors = Switch::automatic;
  int32_t verbosity = 3;  ///< 0 output, 1 error, 2 warn, 3 info, 4 trace, 5 debug
  bool prefix = false;
  bool timestamps = false;
  bool operator==(const LogOptions&) const = default;
};

struct ThreadSettings {
  int32_t n_threads = kUnset;  ///< <= 0: all hardware threads; unset: physical cores
  int32_t n_threads_batch = kUnset;
  std::vector<bool> mask;
  bool strict = false;
  int32_t priority = 0;
  int32_t poll = 50;
  bool operator==(const ThreadSettings&) const = default;
};

struct KvOverride {
  std::string key;
  std::string type;
  std::string text;
  bool operator==(const KvOverride&) const = default;
};

/// Everything that a command line, with the environment, can say. Each field is written by one row of the option table.
struct Options {
  // What to do instead of running.
  bool help = false;
  bool markdown = false;
  bool version = false;
  bool list_devices = false;
  bool completion_bash = false;

  LogOptions log;
  ThreadSettings cpu;
  bool perf = true;
  bool show_timings = true;
  Switch color = Switch::automatic;
  bool escape = true;
  bool warmup = true;
  bool mmap = true;
  bool repack = true;

  // Context.
  int32_t n_ctx = 0;
  int32_t n_predict = -1;
  int32_t n_batch = 2048;
  int32_t n_ubatch = 512;
  int32_t n_keep = 0;
  int32_t n_chunks = -1;
  bool swa_full = false;
  bool context_shift = false;
  std::string type_k = "f16";
  std::string type_v = "f16";
  model::RopeOverrides rope;

  // Prompt and chat.
  std::string prompt;
  bool prompt_given = false;
  bool prompt_from_file = false;  ///< -f or -bf: wins over -p where both are given to tokenize
  std::string raw_file_prompt;    ///< the text of -f with its last newline
  std::string system_prompt;
  std::vector<int32_t> tokens;
  bool tokens_given = false;
  bool verbose_prompt = false;
  bool display_prompt = true;
  bool special = false;
  std::vector<std::string> reverse_prompts;
  Switch conversation = Switch::automatic;
  bool single_turn = false;
  bool interactive = false;
  bool interactive_first = false;
  bool multiline_input = false;
  bool in_prefix_bos = false;
  std::string in_prefix;
  std::string in_suffix;
  std::string chat_template;  ///< a name or the text of a template
  bool jinja = true;
  bool simple_io = false;
  bool json = false;
  int32_t n_probs = 0;

  sampling::Params sampling;
  bool ignore_eos = false;

  // Model.
  std::string model;
  std::vector<KvOverride> overrides;

  // Of single programs.
  std::string output_file;
  std::vector<int32_t> split;
  bool ids = false;
  bool from_stdin = false;
  bool no_bos = false;
  bool parse_special = true;
  bool show_count = false;
  std::vector<std::string> positional;

  /// First long spelling of every option that the environment or the command line gave.
  std::vector<std::string> given;

  /// Things to tell the user that are no errors.
  std::vector<std::string> warnings;  ///< for the log
  std::vector<std::string> notices;   ///< for standard error as they are
  bool operator==(const Options&) const = default;
};

}  // namespace brisk::cli
