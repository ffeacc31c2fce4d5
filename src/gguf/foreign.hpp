#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace brisk::gguf {

/// What a file that does not start with "GGUF" is, and what to do about it: "is a Git LFS pointer, ...". Made to follow
/// the file's name in a message.
[[nodiscard]] std::string describe_foreign(std::span<const std::byte> bytes);

}  // namespace brisk::gguf
