#pragma once

#include <string>
#include <string_view>

namespace brisk::tokenizer {

/// Unicode normalisation form C in time linear in the text. Invalid bytes pass unchanged.
[[nodiscard]] bool needs_nfc(std::string_view text) noexcept;
[[nodiscard]] std::string to_nfc(std::string_view text);

}  // namespace brisk::tokenizer
