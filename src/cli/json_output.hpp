#pragma once

#include "cli/generator.hpp"

#include <span>
#include <string>

namespace brisk::cli {

/// The object of `brisk run --json`, one line.
std::string json_of(std::span<const int32_t> prompt, const Generation& generation, double load_ms);

}  // namespace brisk::cli
