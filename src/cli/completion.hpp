#pragma once

#include "cli/chat_prompt.hpp"
#include "cli/generator.hpp"
#include "cli/log.hpp"
#include "cli/options.hpp"

namespace brisk::cli {

/// What every way of running a model needs.
struct RunContext {
  const Options& options;
  const LoadedModel& loaded;
  Generator& generator;
  ChosenFormat format;
  Log& log;
  bool native;
};

/// A request with everything that options say; prompt and n_predict are left to the caller.
engine::Request base_request(const Options& options);

/// Text completion and plain chat in the shape of llama-completion: the prompt, the text, ` [end of text]`, two
/// newlines; with -i or in a chat it asks for more. Returns the exit code.
int run_completion(const RunContext& context, bool chat);

}  // namespace brisk::cli
