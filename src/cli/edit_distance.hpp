#pragma once

#include <cstddef>
#include <string_view>

namespace brisk::cli {

/// Number of insertions, removals, replacements and swaps of neighbours that turn one text into the other.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

/// The distance from which on a known word is no longer what someone meant by `unknown`.
[[nodiscard]] size_t too_far_from(std::string_view unknown);

}  // namespace brisk::cli
