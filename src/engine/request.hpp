#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sampling/params.hpp"
#include "sampling/sampler.hpp"

namespace brisk::engine {

/// What to generate. Plain data; the engine copies it.
struct Request {
  std::vector<int32_t> prompt;  ///< token ids, special tokens included; must not be empty
  sampling::Params sampling;
  int32_t n_predict = -1;         ///< most tokens to generate; -1 = until an end-of-generation token or a full context
  bool ignore_eos = false;        ///< end-of-generation tokens are never chosen
  int32_t n_keep = 0;             ///< tokens at the start that a context shift leaves in place; -1 = the whole prompt
  bool context_shift = false;     ///< a full context drops half of what is behind n_keep instead of ending the request
  int32_t n_probs = 0;            ///< report this many log-probabilities for each token
  std::vector<std::string> stop;  ///< texts that end the generation
  bool emit_stop = false;         ///< the text that matched a stop is part of the output
  bool special = false;           ///< control tokens are rendered as text
};

enum class FinishReason : uint8_t {
  end_of_generation,
  stop_text,
  length,        ///< n_predict reached
  context_full,  ///< no room for one more token
  cancelled,
  failed,  ///< Finish::error says why
};

/// "stop", "length", "context_full", "cancelled", "error": the word in JSON output.
[[nodiscard]] const char* name_of(FinishReason reason) noexcept;

struct Timings {
  int32_t cached_n = 0;  ///< prompt tokens whose KV was there already
  int32_t prompt_n = 0;  ///< prompt tokens computed
  double prompt_ms = 0;
  int32_t predicted_n = 0;
  double predicted_ms = 0;
};

/// One generated token. `text` is what became complete with it: empty inside a UTF-8 character or a possible stop text.
struct TokenEvent {
  int32_t token;
  std::string text;
  std::vector<sampling::TokenLogprob> probs;
};

struct FinishEvent {
  FinishReason reason;
  std::string text;   ///< text that was held back and turned out to be no stop text
  std::string error;  ///< of `failed` and `context_full`
  Timings timings;
  uint32_t seed;
};

/// Receives what happens to one request, on the engine's thread; must be quick and must not throw. on_finish is the
/// last call, made exactly once.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_prompt(int32_t done, int32_t total) { static_cast<void>(done + total); }
  virtual void on_token(const TokenEvent& event) = 0;
  virtual void on_finish(const FinishEvent& event) = 0;
};

}  // namespace brisk::engine
