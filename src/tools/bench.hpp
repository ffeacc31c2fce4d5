#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/runner.hpp"

namespace brisk::tools {

/// What one test computes: a prompt, then a generation, both timed together, behind tokens that are already there.
struct BenchTest {
  int32_t n_prompt = 0;
  int32_t n_gen = 0;
  int32_t n_depth = 0;
  [[nodiscard]] int32_t n_tokens() const { return n_prompt + n_gen; }
  bool operator==(const BenchTest&) const = default;
};

struct BenchOptions {
  int32_t repetitions = 5;
  bool warmup = true;            ///< the whole prompt and one generated token, untimed, come first
  bool outputs = true;           ///< logits of the last token of each batch
  std::optional<int32_t> bos{};  ///< first token of prompts, for vocabularies that add one
};

enum class BenchStage : uint8_t { warmup_prompt, warmup_generation, depth, depth_kept, prompt, generation };

/// Called before each stage with the number of the repetition, 1 for the first; 0 in the warm-up.
using BenchProgress = std::function<void(BenchStage, int32_t)>;

/// Times a test: nanoseconds of each repetition. Tokens are random. The tokens of the depth are computed once, untimed,
/// and kept for the next repetition, which starts from the sequence cut back to them (computed again where a window no
/// longer allows that). Uses and clears sequence 0, whose context must have room for all tokens. Throws what the runner
/// throws.
[[nodiscard]] std::vector<int64_t> run_bench(model::Runner& runner, const BenchTest& test, const BenchOptions& options,
                                             const BenchProgress& progress = {});

}  // namespace brisk::tools
