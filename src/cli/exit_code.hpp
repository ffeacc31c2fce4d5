#pragma once

#include "base/error.hpp"

namespace brisk::cli {

/// What a program's end says (docs/exit-codes.md). Under the names of llama.cpp's programs every failure is 1.
enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,       ///< anything without a code of its own
  kUsage = 2,         ///< command line or environment
  kModelProblem = 3,  ///< a model or file that is missing, damaged or not supported
  kContextFull = 4,   ///< the prompt is longer than the context
  kOutOfMemory = 5,
  kInternal = 70,      ///< a bug of brisk
  kInterrupted = 130,  ///< Ctrl-C
  kReaderGone = 141,   ///< the reader of standard output went away (128 + SIGPIPE)
  kEmptyInput = 255,   ///< nothing to compute
};

[[nodiscard]] int exit_code_of(ErrorCode code, bool native) noexcept;

}  // namespace brisk::cli
