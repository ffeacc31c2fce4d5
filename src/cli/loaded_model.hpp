#pragma once

#include "backend/registry.hpp"
#include "cli/log.hpp"
#include "cli/option_parser.hpp"
#include "cli/options.hpp"
#include "gguf/reader.hpp"
#include "model/model.hpp"
#include "model/runner.hpp"
#include "tokenizer/tokenizer.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace brisk::cli {

/// A model file with all that is made from it. Members are destroyed from the last to the first: the model before the
/// file whose bytes it may use and before its device.
struct LoadedModel {
  std::unique_ptr<Registry> registry;
  Device* device = nullptr;
  std::unique_ptr<gguf::Model> file;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;
  std::unique_ptr<model::Model> model;
  double load_ms = 0.0;

  /// The source of the model's chat template; empty when it has none.
  [[nodiscard]] std::string chat_template() const;
};

/// All built-in plug-ins. BRISK_CPU forces the kernels of one instruction set.
std::unique_ptr<Registry> make_registry(const Environment& environment);

/// The file that a model argument means: a path; else a file in the model folder ($BRISK_MODELS, or brisk/models in the
/// user's cache folder). An empty argument means SmolLM2-135M-Instruct there. Throws Error(not_found) that says how to
/// get it.
std::filesystem::path find_model(const std::string& argument, const Environment& environment);

/// Opens the file and applies --override-kv.
std::unique_ptr<gguf::Model> open_model_file(const Options& options, const Environment& environment);

/// Everything loaded, with a progress bar when standard error is a terminal.
LoadedModel load_model(const Options& options, const Environment& environment, Log& log);

/// Sizes, cache types and threads from the options. `pad_context`: the context grows to a multiple of 256, as in
/// llama.cpp's programs.
model::RunnerOptions runner_options(const Options& options, const LoadedModel& loaded, bool pad_context);

}  // namespace brisk::cli
