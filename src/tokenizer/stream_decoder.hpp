#pragma once

#include <cstdint>
#include <string>

#include "tokenizer/tokenizer.hpp"

namespace brisk::tokenizer {

/// Turns tokens into text as they come, and keeps back a UTF-8 character until all of its bytes are there. The
/// tokenizer outlives it; one thread.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool special = false)
      : tokenizer_(&tokenizer), special_(special) {}

  /// The bytes that became complete with this token; may be empty.
  [[nodiscard]] std::string push(int32_t id);
  /// What is still kept back (the start of a character), and forgets it.
  [[nodiscard]] std::string flush();
  [[nodiscard]] bool has_pending() const noexcept { return !pending_.empty(); }

 private:
  const Tokenizer* tokenizer_;
  bool special_;
  std::string pending_;
};

}  // namespace brisk::tokenizer
