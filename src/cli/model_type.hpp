#pragma once

#include "gguf/reader.hpp"
#include "model/model.hpp"

#include <string>

namespace brisk::cli {

/// "llama 8B Q4_K - Medium": architecture, size class by the number of layers ("?B" when that is not known) and
/// quantisation, as llama.cpp's programs name a model.
std::string model_type_name(const gguf::Model& file, const model::HyperParams& params);

}  // namespace brisk::cli
