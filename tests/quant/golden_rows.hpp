#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "quant/dtype.hpp"
#include "test_support/paths.hpp"

namespace brisk::test {

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(std::filesystem::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// Types with golden/quant files, by the files' names (the type's own name in lower case).
inline std::vector<DType> golden_types() {
  return {DType::f16,     DType::bf16,   DType::q4_0,  DType::q4_1,  DType::q5_0,   DType::q5_1,   DType::q8_0,
          DType::q2_k,    DType::q3_k,   DType::q4_k,  DType::q5_k,  DType::q6_k,   DType::iq1_s,  DType::iq1_m,
          DType::iq2_xxs, DType::iq2_xs, DType::iq2_s, DType::iq3_s, DType::iq4_nl, DType::iq4_xs, DType::iq3_xxs,
          DType::tq1_0,   DType::tq2_0,  DType::mxfp4, DType::nvfp4, DType::q1_0};
}

inline std::string file_name(DType dtype) {
  std::string name(traits(dtype).name);
  for (char& c : name) c = c == 'K' ? 'k' : c;
  return "golden/quant/" + name;
}

}  // namespace brisk::test
