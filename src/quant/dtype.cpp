#include "quant/dtype.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace brisk {

namespace {

constexpr std::array kTypes = {
    DTypeTraits{DType::f32, "f32", 1, 4, false},
    DTypeTraits{DType::f16, "f16", 1, 2, false},
    DTypeTraits{DType::q4_0, "q4_0", 32, 18, true},
    DTypeTraits{DType::q4_1, "q4_1", 32, 20, true},
    DTypeTraits{DType::q5_0, "q5_0", 32, 22, true},
    DTypeTraits{DType::q5_1, "q5_1", 32, 24, true},
    DTypeTraits{DType::q8_0, "q8_0", 32, 34, true},
    DTypeTraits{DType::q8_1, "q8_1", 32, 36, true},
    DTypeTraits{DType::q2_k, "q2_K", 256, 84, true},
    DTypeTraits{DType::q3_k, "q3_K", 256, 110, true},
    DTypeTraits{DType::q4_k, "q4_K", 256, 144, true},
    DTypeTraits{DType::q5_k, "q5_K", 256, 176, true},
    DTypeTraits{DType::q6_k, "q6_K", 256, 210, true},
    DTypeTraits{DType::q8_k, "q8_K", 256, 292, true},
    DTypeTraits{DType::iq2_xxs, "iq2_xxs", 256, 66, true},
    DTypeTraits{DType::iq2_xs, "iq2_xs", 256, 74, true},
    DTypeTraits{DType::iq3_xxs, "iq3_xxs", 256, 98, true},
    DTypeTraits{DType::iq1_s, "iq1_s", 256, 50, true},
    DTypeTraits{DType::iq4_nl, "iq4_nl", 32, 18, true},
    DTypeTraits{DType::iq3_s, "iq3_s", 256, 110, true},
    DTypeTraits{DType::iq2_s, "iq2_s", 256, 82, true},
    DTypeTraits{DType::iq4_xs, "iq4_xs", 256, 136, true},
    DTypeTraits{DType::i8, "i8", 1, 1, false},
    DTypeTraits{DType::i16, "i16", 1, 2, false},
    DTypeTraits{DType::i32, "i32", 1, 4, false},
    DTypeTraits{DType::i64, "i64", 1, 8, false},
    DTypeTraits{DType::f64, "f64", 1, 8, false},
    DTypeTraits{DType::iq1_m, "iq1_m", 256, 56, true},
    DTypeTraits{DType::bf16, "bf16", 1, 2, false},
    DTypeTraits{DType::tq1_0, "tq1_0", 256, 54, true},
    DTypeTraits{DType::tq2_0, "tq2_0", 256, 66, true},
    DTypeTraits{DType::mxfp4, "mxfp4", 32, 17, true},
    DTypeTraits{DType::nvfp4, "nvfp4", 64, 36, true},
    DTypeTraits{DType::q1_0, "q1_0", 128, 18, true},
    DTypeTraits{DType::q2_0, "q2_0", 64, 18, true},
};

constexpr uint32_t kIdLimit = static_cast<uint32_t>(kTypes.back().dtype) + 1;

/// Row of kTypes by id; -1 for ids that are no type.
constexpr std::array<int8_t, kIdLimit> kRowOfId = [] {
  std::array<int8_t, kIdLimit> rows{};
  rows.fill(-1);
  for (size_t i = 0; i < kTypes.size(); ++i) rows[static_cast<uint32_t>(kTypes[i].dtype)] = static_cast<int8_t>(i);
  return rows;
}();

struct RetiredType {
  uint32_t id;
  std::string_view name;
  std::string_view replacement;
};

constexpr RetiredType kRetired[] = {
    {4, "q4_2", "q4_0"},      {5, "q4_3", "q4_1"},          {31, "q4_0_4_4", "q4_0"},     {32, "q4_0_4_8", "q4_0"},
    {33, "q4_0_8_8", "q4_0"}, {36, "iq4_nl_4_4", "iq4_nl"}, {37, "iq4_nl_4_8", "iq4_nl"}, {38, "iq4_nl_8_8", "iq4_nl"},
};

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::span<const DTypeTraits> all_dtypes() noexcept { return kTypes; }

const DTypeTraits* find_dtype(uint32_t id) noexcept {
  if (id >= kIdLimit || kRowOfId[id] < 0) return nullptr;
  return &kTypes[static_cast<size_t>(kRowOfId[id])];
}

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (const DTypeTraits& type : kTypes) {
    if (std::equal(name.begin(), name.end(), type.name.begin(), type.name.end(), same)) return type.dtype;
  }
  return std::nullopt;
}

const DTypeTraits& traits(DType dtype) noexcept {
  const DTypeTraits* row = find_dtype(static_cast<uint32_t>(dtype));
  return row != nullptr ? *row : kTypes[0];
}

std::string describe_unknown_dtype(uint32_t id) {
  for (const RetiredType& type : kRetired) {
    if (type.id != id) continue;
    return fmt::format("type id {} ({}), which was retired: take a {} file of this model instead", id, type.name,
                       type.replacement);
  }
  return fmt::format(
      "type id {}, which brisk does not know (known ids are 0..{}): the file was made for another program", id,
      kIdLimit - 1);
}

}  // namespace brisk
