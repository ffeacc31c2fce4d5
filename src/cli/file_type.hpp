#pragma once

#include "gguf/reader.hpp"

#include <string>

namespace brisk::cli {

/// The quantisation of a model as a person knows it, "Q4_K - Medium", by general.file_type; with "(guessed) " in front
/// when the file does not say and the commonest type of its matrices is taken.
std::string file_type_name(const gguf::Model& file);

}  // namespace brisk::cli
