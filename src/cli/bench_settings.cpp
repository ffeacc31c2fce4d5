#include "cli/bench_settings.hpp"

#include "base/error.hpp"
#include "cli/option_setters.hpp"
#include "cli/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace brisk::cli {
namespace {

using tools::FieldType;
using Values = std::vector<std::string>;

[[noreturn]] void bad_range() { fail(ErrorCode::invalid_argument, "invalid range format"); }

/// The number at the front of `text`, which it loses.
int64_t take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > INT32_MAX || value < INT32_MIN) bad_range();
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

/// first[-last[+step|*factor]]
void add_range(std::string_view text, std::vector<int64_t>& out) {
  constexpr size_t kMostValues = 100'000;
  const int64_t first = take_number(text);
  int64_t last = first;
  int64_t step = 1;
  bool multiply = false;
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    last = take_number(text);
    if (text.starts_with('+') || text.starts_with('*')) {
      multiply = text.front() == '*';
      text.remove_prefix(1);
      step = take_number(text);
    }
  }
  if (!text.empty()) bad_range();
  for (int64_t value = first; value <= last;) {
    out.push_back(value);
    if (value == last) break;
    const int64_t next = multiply ? value * step : value + step;
    if (next <= value) fail(ErrorCode::invalid_argument, "invalid range");
    if (out.size() > kMostValues) fail(ErrorCode::invalid_argument, "invalid range: more than {} values", kMostValues);
    value = next;
  }
  if (last < first) fail(ErrorCode::invalid_argument, "invalid range");
}

Values numbers(const BenchSettingRow& row, std::string_view text) {
  Values out;
  for (const int64_t value : parse_number_list(text, row.least)) out.push_back(std::to_string(value));
  return out;
}

Values texts(const BenchSettingRow& /*row*/, std::string_view text) {
  Values out;
  for (std::string& field : split_commas(text)) {
    if (!field.empty()) out.push_back(std::move(field));
  }
  if (out.empty()) fail(ErrorCode::invalid_argument, "a name is missing");
  return out;
}

/// The values of a comma list after `convert`.
template <typename Convert>
Values converted(std::string_view text, Convert convert) {
  Values out;
  for (const std::string& field : split_commas(text)) out.push_back(convert(field));
  return out;
}

Values chosen(const BenchSettingRow& row, std::string_view text) {
  return converted(text, [&](const std::string& value) {
    if (!has_word(row.choices, value)) fail(ErrorCode::invalid_argument, "one of: {}", row.choices);
    return value;
  });
}

Values load_modes(const BenchSettingRow& row, std::string_view text) {
  Values out = chosen(row, text);
  for (const std::string& value : out) {
    if (!has_word("auto none mmap", value)) fail(ErrorCode::unsupported, "mode '{}' is not supported yet", value);
  }
  return out;
}

Values lazy_modes(const BenchSettingRow& row, std::string_view text) {
  Values out = chosen(row, text);
  for (const std::string& value : out) {
    if (value == "on") fail(ErrorCode::unsupported, "mode '{}' is not supported yet", value);
  }
  return out;
}

Values three_states(const BenchSettingRow& /*row*/, std::string_view text) {
  return converted(text, [](const std::string& value) -> std::string {
    if (has_word("on enabled true 1", value)) return "1";
    if (has_word("off disabled false 0", value)) return "0";
    if (has_word("auto -1", value)) return "-1";
    fail(ErrorCode::invalid_argument, "on, off or auto");
  });
}

Values masks(const BenchSettingRow& /*row*/, std::string_view text) {
  return converted(text, [](const std::string& value) {
    Options checked;
    OptionValue mask;
    mask.text = value;
    set_cpu_mask(checked, mask);
    return value;
  });
}

/// "3/1" and "3;1": shares of the devices.
Values splits(const BenchSettingRow& /*row*/, std::string_view text) {
  return converted(text, [](std::string value) {
    std::ranges::replace(value, ';', '/');
    std::string out;
    for (const char* at = value.c_str();;) {
      char* end = nullptr;
      const double share = std::strtod(at, &end);
      if (end == at || (*end != '/' && *end != '\0')) fail(ErrorCode::invalid_argument, "numbers with / between");
      out += fmt::format("{}{:.2f}", out.empty() ? "" : "/", share);
      if (*end == '\0') return out;
      at = end + 1;
    }
  });
}

Values device_lists(const BenchSettingRow& /*row*/, std::string_view text) {
  return converted(text, [](const std::string& value) {
    if (value != "auto" && value != "none") fail(ErrorCode::invalid_argument, "invalid device: {}", value);
    return value;
  });
}

/// "REGEX=BUFFER;...": everything lies in the CPU's memory anyway.
Values override_lists(const BenchSettingRow& /*row*/, std::string_view text) {
  return converted(text, [](const std::string& value) {
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view item = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
      if (item != "none" && !item.ends_with("=CPU")) fail(ErrorCode::invalid_argument, "REGEX=CPU; there is no other");
    }
    return value.empty() ? std::string("none") : value;
  });
}

constexpr std::string_view kCacheTypes = "f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl";

constexpr BenchSettingRow kRows[] = {
    {.setting = BenchSetting::model,
     .names = "-m --model",
     .hint = "<filename>",
     .standard = "models/7B/ggml-model-q4_0.gguf",
     .field = "model_filename",
     .type = FieldType::text,
     .at_load = true,
     .parse = texts},
    {.setting = BenchSetting::fit_target,
     .names = "-fitt --fit-target",
     .hint = "<MiB>",
     .standard = "0",
     .field = "fit_target",
     .heading = "fitt",
     .parse = numbers},
    {.setting = BenchSetting::fit_ctx,
     .names = "-fitc --fit-ctx",
     .hint = "<n>",
     .standard = "0",
     .field = "fit_min_ctx",
     .heading = "fitc",
     .parse = numbers},
    {.setting = BenchSetting::gpu_layers,
     .names = "-ngl --n-gpu-layers",
     .hint = "<n>",
     .standard = "-1",
     .field = "n_gpu_layers",
     .parse = numbers,
     .least = INT32_MIN},
    {.setting = BenchSetting::cpu_moe,
     .names = "-ncmoe --n-cpu-moe",
     .hint = "<n>",
     .standard = "0",
     .field = "n_cpu_moe",
     .heading = "n_cpu_moe",
     .parse = numbers},
    {.setting = BenchSetting::split_mode,
     .names = "-sm --split-mode",
     .hint = "<none|layer|row|tensor>",
     .standard = "layer",
     .field = "split_mode",
     .type = FieldType::text,
     .heading = "sm",
     .width = 6,
     .parse = chosen,
     .choices = "none layer row tensor"},
    {.setting = BenchSetting::load_mode,
     .names = "-lm --load-mode",
     .hint = "<auto|none|mmap>",
     .standard = "auto",
     .field = "load_mode",
     .type = FieldType::text,
     .heading = "lm",
     .at_load = true,
     .parse = load_modes,
     .choices = "auto none mmap mlock mmap+mlock dio"},
    {.setting = BenchSetting::lazy_mode,
     .names = "-lzm --lazy-mode",
     .hint = "<auto|off>",
     .standard = "auto",
     .field = "lazy_mode",
     .type = FieldType::text,
     .heading = "lazy_mode",
     .parse = lazy_modes,
     .choices = "auto on off"},
    {.setting = BenchSetting::main_gpu,
     .names = "-mg --main-gpu",
     .hint = "<i>",
     .standard = "0",
     .field = "main_gpu",
     .heading = "main_gpu",
     .replaces = true,
     .parse = numbers},
    {.setting = BenchSetting::devices,
     .names = "-dev --device",
     .hint = "<auto|none>",
     .standard = "auto",
     .field = "devices",
     .type = FieldType::text,
     .heading = "dev",
     .width = 12,
     .left = true,
     .parse = device_lists},
    {.setting = BenchSetting::tensor_split,
     .names = "-ts --tensor-split",
     .hint = "<ts0/ts1/..>",
     .standard = "0.00",
     .field = "tensor_split",
     .type = FieldType::text,
     .heading = "ts",
     .left = true,
     .parse = splits},
    {.setting = BenchSetting::overrides,
     .names = "-ot --override-tensor",
     .hint = "<regex=CPU;...>",
     .standard = "none",
     .field = "tensor_buft_overrides",
     .type = FieldType::text,
     .heading = "ot",
     .left = true,
     .parse = override_lists},
    {.setting = BenchSetting::no_host,
     .names = "--no-host",
     .hint = "<0|1>",
     .standard = "0",
     .field = "no_host",
     .type = FieldType::boolean,
     .heading = "noh",
     .width = 4,
     .parse = chosen,
     .choices = "0 1"},
    {.setting = BenchSetting::repack,
     .names = "--repack",
     .hint = "<0|1>",
     .standard = "1",
     .field = "repack",
     .type = FieldType::boolean,
     .heading = "rpk",
     .width = 3,
     .at_load = true,
     .parse = chosen,
     .choices = "0 1"},
    {.setting = BenchSetting::embeddings,
     .names = "-embd --embeddings",
     .hint = "<0|1>",
     .standard = "0",
     .field = "embeddings",
     .type = FieldType::boolean,
     .heading = "embd",
     .parse = chosen,
     .choices = "0 1"},
    {.setting = BenchSetting::no_op_offload,
     .names = "-nopo --no-op-offload",
     .hint = "<0|1>",
     .standard = "0",
     .field = "no_op_offload",
     .heading = "nopo",
     .width = 4,
     .parse = chosen,
     .choices = "0 1"},
    {.setting = BenchSetting::batch,
     .names = "-b --batch-size",
     .hint = "<n>",
     .standard = "2048",
     .field = "n_batch",
     .heading = "n_batch",
     .width = 7,
     .parse = numbers,
     .least = 1},
    {.setting = BenchSetting::ubatch,
     .names = "-ub --ubatch-size",
     .hint = "<n>",
     .standard = "512",
     .field = "n_ubatch",
     .heading = "n_ubatch",
     .width = 8,
     .parse = numbers,
     .least = 1},
    {.setting = BenchSetting::type_k,
     .names = "-ctk --cache-type-k",
     .hint = "<t>",
     .standard = "f16",
     .field = "type_k",
     .type = FieldType::text,
     .heading = "type_k",
     .width = 6,
     .parse = chosen,
     .choices = kCacheTypes},
    {.setting = BenchSetting::type_v,
     .names = "-ctv --cache-type-v",
     .hint = "<t>",
     .standard = "f16",
     .field = "type_v",
     .type = FieldType::text,
     .heading = "type_v",
     .width = 6,
     .parse = chosen,
     .choices = kCacheTypes},
    {.setting = BenchSetting::no_kv_offload,
     .names = "-nkvo --no-kv-offload",
     .hint = "<0|1>",
     .standard = "0",
     .field = "no_kv_offload",
     .type = FieldType::boolean,
     .heading = "nkvo",
     .parse = chosen,
     .choices = "0 1"},
    {.setting = BenchSetting::flash_attention,
     .names = "-fa --flash-attn",
     .hint = "<on|off|auto>",
     .standard = "-1",
     .field = "flash_attn",
     .heading = "fa",
     .width = 3,
     .parse = three_states},
    {.setting = BenchSetting::threads,
     .names = "-t --threads",
     .hint = "<n>",
     .field = "n_threads",
     .heading = "threads",
     .width = 7,
     .parse = numbers,
     .least = 1},
    {.setting = BenchSetting::cpu_mask,
     .names = "-C --cpu-mask",
     .hint = "<hex,hex>",
     .standard = "0x0",
     .field = "cpu_mask",
     .type = FieldType::text,
     .heading = "cpu_mask",
     .left = true,
     .parse = masks},
    {.setting = BenchSetting::cpu_strict,
     .names = "--cpu-strict",
     .hint = "<0|1>",
     .standard = "0",
     .field = "cpu_strict",
     .type = FieldType::boolean,
     .heading = "cpu_strict",
     .parse = chosen,
     .choices = "0 1"},
    {.setting = BenchSetting::depth,
     .names = "-d --n-depth",
     .hint = "<n>",
     .standard = "0",
     .field = "n_depth",
     .parse = numbers},
    {.setting = BenchSetting::poll,
     .names = "--poll",
     .hint = "<0...100>",
     .standard = "50",
     .field = "poll",
     .heading = "poll",
     .parse = numbers},
};
static_assert(std::size(kRows) == kBenchSettingCount);

}  // namespace

std::vector<int64_t> parse_number_list(std::string_view text, int64_t least) {
  std::vector<int64_t> out;
  while (true) {
    const size_t comma = text.find(',');
    add_range(text.substr(0, comma), out);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (std::ranges::min(out) < least) fail(ErrorCode::invalid_argument, "a number below {}", least);
  return out;
}

std::span<const BenchSettingRow> bench_settings() { return kRows; }

const BenchSettingRow& row_of(BenchSetting setting) { return kRows[static_cast<size_t>(setting)]; }

}  // namespace brisk::cli
