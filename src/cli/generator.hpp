#pragma once

#include "cli/loaded_model.hpp"
#include "engine/engine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace brisk::cli {

/// An answer after its end.
struct Generation {
  std::vector<int32_t> tokens;  ///< all that were chosen, the one that ended it included
  std::string text;
  std::vector<std::vector<sampling::TokenLogprob>> probs;
  engine::FinishReason reason = engine::FinishReason::failed;
  std::string error;
  engine::Timings timings;
};

/// The command line's way to the engine: one request at a time, events on the caller's thread, and Ctrl-C cancels the
/// request (the interrupt stays counted; the caller clears it).
class Generator {
 public:
  Generator(const LoadedModel& loaded, const model::RunnerOptions& options);

  /// `on_text` gets text as it comes.
  Generation run(engine::Request request, const std::function<void(std::string_view)>& on_text);
  void warm_up() { engine_.warm_up(); }
  [[nodiscard]] int32_t n_ctx() const { return engine_.n_ctx(); }

 private:
  engine::Engine engine_;
};

}  // namespace brisk::cli
