#pragma once

#include "tools/bench_format.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::cli {

/// What a benchmark can vary, in the order of nesting: the last one changes first.
enum class BenchSetting : uint8_t {
  model,
  fit_target,
  fit_ctx,
  gpu_layers,
  cpu_moe,
  split_mode,
  load_mode,
  lazy_mode,
  main_gpu,
  devices,
  tensor_split,
  overrides,
  no_host,
  repack,
  embeddings,
  no_op_offload,
  batch,
  ubatch,
  type_k,
  type_v,
  no_kv_offload,
  flash_attention,
  threads,
  cpu_mask,
  cpu_strict,
  depth,
  poll,
};
inline constexpr size_t kBenchSettingCount = static_cast<size_t>(BenchSetting::poll) + 1;

/// Values of each setting, as the results print them.
using BenchLists = std::array<std::vector<std::string>, kBenchSettingCount>;
/// One value of each.
using BenchCombination = std::array<std::string, kBenchSettingCount>;

[[nodiscard]] inline const std::string& value_of(const BenchCombination& values, BenchSetting setting) {
  return values[static_cast<size_t>(setting)];
}

/// One setting: all that parsing, help and results need. An option that has its effect by there being nothing to change
/// on a CPU is accepted like the others.
struct BenchSettingRow {
  BenchSetting setting;
  std::string_view names;  ///< of the option, blank-separated
  std::string_view hint;
  std::string_view standard{};  ///< the value when the option is absent
  std::string_view field;       ///< in results
  tools::FieldType type = tools::FieldType::integer;
  std::string_view heading{};  ///< in the table, where the column is shown
  int width = 0;               ///< 0 = at least 10 and the length of the field's name
  bool left = false;
  bool at_load = false;   ///< the model is loaded again when it changes
  bool replaces = false;  ///< a second option replaces the first
  /// The values that an option's text stands for. Throws Error(invalid_argument), Error(unsupported) for what brisk
  /// knows but does not do yet.
  std::vector<std::string> (*parse)(const BenchSettingRow& row, std::string_view text) = nullptr;
  std::string_view choices{};  ///< of values, blank-separated
  int64_t least = 0;           ///< of numbers
};

/// By setting.
[[nodiscard]] std::span<const BenchSettingRow> bench_settings();
[[nodiscard]] const BenchSettingRow& row_of(BenchSetting setting);

/// "1,4", "1-4", "1-9+2", "1-64*2" and lists of these: the numbers. Throws Error(invalid_argument) that says what is
/// wrong with the text.
[[nodiscard]] std::vector<int64_t> parse_number_list(std::string_view text, int64_t least);

}  // namespace brisk::cli
