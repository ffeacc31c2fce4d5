#pragma once

#include <cstdint>
#include <string_view>

#include "tokenizer/kinds.hpp"

namespace brisk::tokenizer {

/// A part of a prompt: a token that stood in the text, or (token == kNoToken) text still to be tokenised.
struct Fragment {
  int32_t token = kNoToken;
  std::string_view text;
};

}  // namespace brisk::tokenizer
