#include "cli/file_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace brisk::cli {
namespace {

struct FileType {
  uint64_t id;
  const char* name;
};

constexpr FileType kFileTypes[] = {
    {0, "all F32"},
    {1, "F16"},
    {2, "Q4_0"},
    {3, "Q4_1"},
    {7, "Q8_0"},
    {8, "Q5_0"},
    {9, "Q5_1"},
    {10, "Q2_K - Medium"},
    {21, "Q2_K - Small"},
    {11, "Q3_K - Small"},
    {12, "Q3_K - Medium"},
    {13, "Q3_K - Large"},
    {14, "Q4_K - Small"},
    {15, "Q4_K - Medium"},
    {16, "Q5_K - Small"},
    {17, "Q5_K - Medium"},
    {18, "Q6_K"},
    {19, "IQ2_XXS - 2.0625 bpw"},
    {20, "IQ2_XS - 2.3125 bpw"},
    {28, "IQ2_S - 2.5 bpw"},
    {29, "IQ2_M - 2.7 bpw"},
    {22, "IQ3_XS - 3.3 bpw"},
    {23, "IQ3_XXS - 3.0625 bpw"},
    {26, "IQ3_S - 3.4375 bpw"},
    {27, "IQ3_S mix - 3.66 bpw"},
    {24, "IQ1_S - 1.5625 bpw"},
    {31, "IQ1_M - 1.75 bpw"},
    {25, "IQ4_NL - 4.5 bpw"},
    {30, "IQ4_XS - 4.25 bpw"},
    {32, "BF16"},
    {36, "TQ1_0 - 1.69 bpw ternary"},
    {37, "TQ2_0 - 2.06 bpw ternary"},
    {38, "MXFP4 MoE"},
    {39, "NVFP4"},
    {40, "Q1_0"},
    {41, "Q2_0"},
};

std::string commonest_type(const gguf::Model& file) {
  std::map<std::string, size_t> counts;
  for (const auto& tensor : file.tensors()) {
    if (tensor.n_dims > 1) ++counts[std::string(traits(tensor.dtype).name)];
  }
  const auto it =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return it == counts.end() ? "unknown" : it->first;
}

}  // namespace

std::string file_type_name(const gguf::Model& file) {
  const auto id = file.metadata().get_uint("general.file_type");
  if (!id) return "(guessed) " + commonest_type(file);
  const auto* it =
      std::find_if(std::begin(kFileTypes), std::end(kFileTypes), [&](const FileType& t) { return t.id == *id; });
  return it == std::end(kFileTypes) ? fmt::format("unknown file type {}", *id) : it->name;
}

}  // namespace brisk::cli
