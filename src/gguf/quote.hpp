#pragma once

#include <string>
#include <string_view>

namespace brisk::gguf {

/// Text from a file made fit for a message: in quotes, control and non-UTF-8 bytes as '?', at most 80 bytes of it.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace brisk::gguf
