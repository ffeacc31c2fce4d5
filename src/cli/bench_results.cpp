#include "cli/bench_results.hpp"

#include "cli/build_info.hpp"
#include "cli/model_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace brisk::cli {
namespace {

using tools::BenchColumn;
using tools::BenchField;
using tools::FieldType;
using Setting = BenchSetting;

struct Row {
  const BenchCommand& command;
  const BenchModel& model;
  const BenchMeasured& measured;
};
using Value = std::function<std::string(const Row&)>;

struct Field {
  BenchField what;
  Value value;
};
struct Column {
  BenchColumn what;
  Value value;
};

std::string whole(double value) { return fmt::format("{}", static_cast<int64_t>(value)); }
std::string six_decimals(double value) { return fmt::format("{:.6f}", value); }
const tools::BenchSamples& samples(const Row& r) { return r.measured.samples; }

Field setting_field(Setting setting) {
  const BenchSettingRow& row = row_of(setting);
  return {{row.field, row.type}, [setting](const Row& r) { return value_of(r.measured.settings, setting); }};
}

// The order of the settings among the fields, which is not that of nesting.
constexpr Setting kFieldOrder[] = {
    Setting::batch,         Setting::ubatch,    Setting::threads,       Setting::cpu_mask,        Setting::cpu_strict,
    Setting::poll,          Setting::type_k,    Setting::type_v,        Setting::gpu_layers,      Setting::cpu_moe,
    Setting::split_mode,    Setting::main_gpu,  Setting::no_kv_offload, Setting::flash_attention, Setting::devices,
    Setting::tensor_split,  Setting::overrides, Setting::load_mode,     Setting::lazy_mode,       Setting::embeddings,
    Setting::no_op_offload, Setting::no_host,   Setting::repack,        Setting::fit_target,      Setting::fit_ctx,
};

// The order of their columns.
constexpr Setting kColumnOrder[] = {
    Setting::cpu_moe,    Setting::threads,       Setting::cpu_mask,        Setting::cpu_strict, Setting::poll,
    Setting::batch,      Setting::ubatch,        Setting::type_k,          Setting::type_v,     Setting::main_gpu,
    Setting::split_mode, Setting::no_kv_offload, Setting::flash_attention, Setting::devices,    Setting::tensor_split,
    Setting::overrides,  Setting::load_mode,     Setting::lazy_mode,       Setting::embeddings, Setting::no_op_offload,
    Setting::no_host,    Setting::repack,        Setting::fit_target,      Setting::fit_ctx,
};

/// A number of the share; 0 when there is none.
template <typename Get>
Field share_field(std::string_view name, FieldType type, Get get) {
  return {{name, type}, [=](const Row& r) {
            const double value = r.measured.share ? get(*r.measured.share) : 0.0;
            return type == FieldType::real ? six_decimals(value) : whole(value);
          }};
}

std::vector<Field> own_fields(const BenchCommand& command) {
  std::vector<Field> out;
  if (command.median) {
    out.push_back({{"median_ns", FieldType::integer},
                   [](const Row& r) { return whole(tools::median_of(samples(r).nanoseconds())); }});
    out.push_back({{"median_ts", FieldType::real},
                   [](const Row& r) { return six_decimals(tools::median_of(samples(r).tokens_per_second())); }});
  }
  if (command.limits) {
    out.push_back({{"limit", FieldType::text},
                   [](const Row& r) { return std::string(r.measured.share ? r.measured.share->limit : ""); }});
    const auto integer = FieldType::integer;
    out.push_back(share_field("share_of_limit", FieldType::real, [](const BenchShare& s) { return s.share; }));
    out.push_back(share_field("limit_int8_ops", integer, [](const BenchShare& s) { return s.peaks.int8_ops; }));
    out.push_back(share_field("limit_fp32_ops", integer, [](const BenchShare& s) { return s.peaks.fp32_ops; }));
    out.push_back(share_field("limit_read_bytes", integer, [](const BenchShare& s) { return s.peaks.read_bytes; }));
  }
  return out;
}

std::vector<Field> fields_of(const BenchCommand& command) {
  std::vector<Field> out = {
      {{"build_commit"}, [](const Row&) { return std::string(kCommit); }},
      {{"build_number", FieldType::integer}, [](const Row&) { return std::string(kBuildNumber); }},
      {{"cpu_info"}, [](const Row& r) { return r.model.processor; }},
      {{"gpu_info"}, [](const Row&) { return std::string(); }},
      {{"backends"}, [](const Row&) { return std::string("CPU"); }},
      setting_field(Setting::model),
      {{"model_type"}, [](const Row& r) { return r.model.type; }},
      {{"model_size", FieldType::integer}, [](const Row& r) { return std::to_string(r.model.size_bytes); }},
      {{"model_n_params", FieldType::integer}, [](const Row& r) { return std::to_string(r.model.n_parameters); }},
  };
  for (const Setting setting : kFieldOrder) out.push_back(setting_field(setting));
  const std::vector<Field> measured = {
      {{"n_prompt", FieldType::integer}, [](const Row& r) { return std::to_string(r.measured.test.n_prompt); }},
      {{"n_gen", FieldType::integer}, [](const Row& r) { return std::to_string(r.measured.test.n_gen); }},
      {{"n_depth", FieldType::integer}, [](const Row& r) { return std::to_string(r.measured.test.n_depth); }},
      {{"test_time"}, [](const Row& r) { return r.measured.time; }},
      {{"avg_ns", FieldType::integer}, [](const Row& r) { return whole(tools::mean_of(samples(r).nanoseconds())); }},
      {{"stddev_ns", FieldType::integer},
       [](const Row& r) { return whole(tools::deviation_of(samples(r).nanoseconds())); }},
      {{"avg_ts", FieldType::real},
       [](const Row& r) { return six_decimals(tools::mean_of(samples(r).tokens_per_second())); }},
      {{"stddev_ts", FieldType::real},
       [](const Row& r) { return six_decimals(tools::deviation_of(samples(r).tokens_per_second())); }},
  };
  std::ranges::copy(measured, std::back_inserter(out));
  std::ranges::copy(own_fields(command), std::back_inserter(out));
  return out;
}

std::string size_text(uint64_t bytes) {
  const auto mib = static_cast<double>(bytes) / 0x1p20;
  return mib >= 1024.0 ? fmt::format("{:.2f} GiB", mib / 1024.0) : fmt::format("{:.2f} MiB", mib);
}

std::string parameters_text(uint64_t n) {
  const auto millions = static_cast<double>(n) / 1e6;
  return millions >= 1000.0 ? fmt::format("{:.2f} B", millions / 1e3) : fmt::format("{:.2f} M", millions);
}

// Settings that say nothing new stay out of the table, but for the threads.
bool is_shown(const BenchCommand& command, const BenchSettingRow& row) {
  const auto& values = command.lists[static_cast<size_t>(row.setting)];
  return row.setting == Setting::threads || values.size() > 1 || values.front() != row.standard;
}

std::vector<Column> columns_of(const BenchCommand& command) {
  std::vector<Column> out = {
      {{"model", 30, true}, [](const Row& r) { return r.model.type; }},
      {{"size", 10}, [](const Row& r) { return size_text(r.model.size_bytes); }},
      {{"params", 10}, [](const Row& r) { return parameters_text(r.model.n_parameters); }},
      {{"backend", 10, true}, [](const Row&) { return std::string("CPU"); }},
  };
  for (const Setting setting : kColumnOrder) {
    const BenchSettingRow& row = row_of(setting);
    if (!is_shown(command, row)) continue;
    const int width = row.width > 0 ? row.width : std::max(10, static_cast<int>(row.field.size()));
    out.push_back(
        {{row.heading, width, row.left}, [setting](const Row& r) { return value_of(r.measured.settings, setting); }});
  }
  out.push_back({{"test", 15}, [](const Row& r) { return test_name(r.measured.test); }});
  out.push_back({{"t/s", 20}, [](const Row& r) {
                   const std::vector<double> rates = samples(r).tokens_per_second();
                   return fmt::format("{:.2f} ± {:.2f}", tools::mean_of(rates), tools::deviation_of(rates));
                 }});
  if (command.median) {
    out.push_back({{"median t/s", 10}, [](const Row& r) {
                     return fmt::format("{:.2f}", tools::median_of(samples(r).tokens_per_second()));
                   }});
  }
  if (command.limits) {
    out.push_back({{"of limit", 13}, [](const Row& r) {
                     if (!r.measured.share) return std::string("-");
                     return fmt::format("{} {:.1f} %", r.measured.share->limit, 100.0 * r.measured.share->share);
                   }});
  }
  return out;
}

}  // namespace

BenchModel describe(const LoadedModel& loaded) {
  return {model_type_name(*loaded.file, loaded.model->params()), loaded.model->weight_bytes(),
          loaded.model->n_parameters(), loaded.device->description()};
}

tools::BenchSchema bench_schema(const BenchCommand& command) {
  tools::BenchSchema schema;
  for (const Field& field : fields_of(command)) schema.fields.push_back(field.what);
  for (const Column& column : columns_of(command)) schema.columns.push_back(column.what);
  schema.build = fmt::format("{} ({})", kCommit, kBuildNumber);
  return schema;
}

tools::BenchResult bench_result(const BenchCommand& command, const BenchModel& model, const BenchMeasured& measured) {
  const Row row{command, model, measured};
  tools::BenchResult result;
  for (const Field& field : fields_of(command)) result.values.push_back(field.value(row));
  for (const Column& column : columns_of(command)) result.cells.push_back(column.value(row));
  result.samples = measured.samples;
  return result;
}

std::string test_name(const tools::BenchTest& test) {
  std::string name;
  if (test.n_prompt > 0) name += fmt::format("pp{}", test.n_prompt);
  if (test.n_gen > 0) name += fmt::format("{}tg{}", name.empty() ? "" : "+", test.n_gen);
  if (test.n_depth > 0) name += fmt::format(" @ d{}", test.n_depth);
  return name;
}

}  // namespace brisk::cli
