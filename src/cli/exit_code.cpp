#include "cli/exit_code.hpp"

namespace brisk::cli {

int exit_code_of(ErrorCode code, bool native) noexcept {
  if (code == ErrorCode::cancelled) return kInterrupted;
  if (!native) return kFailure;
  switch (code) {
    case ErrorCode::not_found:
    case ErrorCode::corrupt:
    case ErrorCode::unsupported:
    case ErrorCode::io:
      return kModelProblem;
    case ErrorCode::context_full:
      return kContextFull;
    case ErrorCode::out_of_memory:
      return kOutOfMemory;
    case ErrorCode::internal:
      return kInternal;
    default:
      return kFailure;
  }
}

}  // namespace brisk::cli
