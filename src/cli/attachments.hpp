#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace brisk::cli {

/// "--- File: NAME ---", newline, the file's text: what /read puts in front of the next message. nullopt when the file
/// cannot be read.
std::optional<std::string> attachment(const std::string& name);

/// Files that match a pattern, at most `limit`, in order of name: '*' and '?' within a name, '**' over folders, [a-z];
/// a leading '~' is the home folder.
std::vector<std::string> glob(const std::string& pattern, size_t limit);

}  // namespace brisk::cli
