#include "cli/json_output.hpp"

#include "base/utf8.hpp"

#include <nlohmann/json.hpp>

namespace brisk::cli {

std::string json_of(std::span<const int32_t> prompt, const Generation& generation, double load_ms) {
  nlohmann::ordered_json out;
  out["prompt_tokens"] = prompt;
  out["tokens"] = generation.tokens;
  // JSON holds Unicode only; raw bytes of a byte token become U+FFFD.
  out["text"] = utf8::sanitize(generation.text);
  out["finish_reason"] = engine::name_of(generation.reason);
  const auto& t = generation.timings;
  out["timings"] = {{"prompt_n", t.prompt_n},
                    {"prompt_ms", t.prompt_ms},
                    {"predicted_n", t.predicted_n},
                    {"predicted_ms", t.predicted_ms},
                    {"load_ms", load_ms}};
  if (!generation.probs.empty()) {
    auto& probs = out["probs"] = nlohmann::ordered_json::array();
    for (const auto& position : generation.probs) {
      auto list = nlohmann::ordered_json::array();
      for (const auto& entry : position) list.push_back({entry.token, entry.logprob});
      probs.push_back(std::move(list));
    }
  }
  return out.dump() + "\n";
}

}  // namespace brisk::cli
