#pragma once

#include "cli/log.hpp"
#include "cli/options.hpp"
#include "gguf/metadata.hpp"

namespace brisk::cli {

/// The options with the sampling settings that the model's file recommends (general.sampling.*), where neither command
/// line nor environment say something. A setting that brisk does not have is warned about.
Options with_model_defaults(Options options, const gguf::Metadata& metadata, Log& log);

}  // namespace brisk::cli
