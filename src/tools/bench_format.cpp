#include "tools/bench_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace brisk::tools {

namespace {

std::string doubled(std::string_view text, char quote) {
  std::string out;
  for (const char c : text) out.append(c == quote ? 2 : 1, c);
  return out;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? fmt::format("\\u{:04x}", static_cast<int>(c)) : std::string(1, c);
  }
  return out + '"';
}

std::string json_value(FieldType type, const std::string& value) {
  switch (type) {
    case FieldType::boolean:
      return value == "0" ? "false" : "true";
    case FieldType::text:
      return json_text(value);
    default:
      return value;
  }
}

std::string names_of(const BenchSchema& schema, std::string_view between) {
  std::string out;
  for (const BenchField& field : schema.fields) out += fmt::format("{}{}", out.empty() ? "" : between, field.name);
  return out;
}

/// Each value in `quote`s.
std::string quoted_values(const BenchResult& result, char quote, std::string_view between) {
  std::string out;
  for (const std::string& value : result.values) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : between, quote, doubled(value, quote), quote);
  }
  return out;
}

std::string nothing(const BenchSchema& /*schema*/) { return {}; }

// ---- md

// fmt counts characters, not bytes: a ± is one column.
std::string cell(const BenchColumn& column, std::string_view text) {
  return column.left ? fmt::format(" {:<{}} |", text, column.width) : fmt::format(" {:>{}} |", text, column.width);
}

std::string md_header(const BenchSchema& schema) {
  std::string headings = "|";
  std::string rule = "|";
  for (const BenchColumn& column : schema.columns) {
    headings += cell(column, column.heading);
    rule += cell(column, std::string(static_cast<size_t>(column.width - 1), '-') + (column.left ? '-' : ':'));
  }
  return headings + "\n" + rule + "\n";
}

std::string md_result(const BenchSchema& schema, const BenchResult& result, bool /*first*/) {
  std::string out = "|";
  for (size_t i = 0; i < schema.columns.size(); ++i) out += cell(schema.columns[i], result.cells[i]);
  return out + "\n";
}

std::string md_footer(const BenchSchema& schema) { return fmt::format("\nbuild: {}\n", schema.build); }

// ---- csv

std::string csv_header(const BenchSchema& schema) { return names_of(schema, ",") + "\n"; }

std::string csv_result(const BenchSchema& /*schema*/, const BenchResult& result, bool /*first*/) {
  return quoted_values(result, '"', ",") + "\n";
}

// ---- json and jsonl

std::string json_fields(const BenchSchema& schema, const BenchResult& result, std::string_view before,
                        std::string_view after) {
  std::string out;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const BenchField& field = schema.fields[i];
    out += fmt::format("{}\"{}\": {}{}", before, field.name, json_value(field.type, result.values[i]), after);
  }
  return out;
}

std::string ns_array(const BenchResult& result) { return fmt::format("[ {} ]", fmt::join(result.samples.ns, ", ")); }

std::string ts_array(const BenchResult& result) {
  std::string out;
  for (const double rate : result.samples.tokens_per_second()) {
    out += fmt::format("{}{:g}", out.empty() ? "" : ", ", rate);
  }
  return fmt::format("[ {} ]", out);
}

std::string json_header(const BenchSchema& /*schema*/) { return "[\n"; }

std::string json_result(const BenchSchema& schema, const BenchResult& result, bool first) {
  return fmt::format("{}  {{\n{}    \"samples_ns\": {},\n    \"samples_ts\": {}\n  }}", first ? "" : ",\n",
                     json_fields(schema, result, "    ", ",\n"), ns_array(result), ts_array(result));
}

std::string json_footer(const BenchSchema& /*schema*/) { return "\n]\n"; }

std::string jsonl_result(const BenchSchema& schema, const BenchResult& result, bool /*first*/) {
  return fmt::format("{{{}\"samples_ns\": {},\"samples_ts\": {}}}\n", json_fields(schema, result, "", ", "),
                     ns_array(result), ts_array(result));
}

// ---- sql

std::string_view sql_type(FieldType type) {
  if (type == FieldType::text) return "TEXT";
  return type == FieldType::real ? "REAL" : "INTEGER";
}

std::string sql_header(const BenchSchema& schema) {
  std::string columns;
  for (const BenchField& field : schema.fields) {
    columns += fmt::format("{}  {} {}", columns.empty() ? "" : ",\n", field.name, sql_type(field.type));
  }
  return fmt::format("CREATE TABLE IF NOT EXISTS llama_bench (\n{}\n);\n\n", columns);
}

std::string sql_result(const BenchSchema& schema, const BenchResult& result, bool /*first*/) {
  return fmt::format("INSERT INTO llama_bench ({}) VALUES ({});\n", names_of(schema, ", "),
                     quoted_values(result, '\'', ", "));
}

std::string no_result(const BenchSchema& /*schema*/, const BenchResult& /*result*/, bool /*first*/) { return {}; }

constexpr BenchFormat kFormats[] = {
    {"csv", csv_header, csv_result, nothing},  {"json", json_header, json_result, json_footer},
    {"jsonl", nothing, jsonl_result, nothing}, {"md", md_header, md_result, md_footer},
    {"sql", sql_header, sql_result, nothing},  {"none", nothing, no_result, nothing},
};

}  // namespace

std::span<const BenchFormat> bench_formats() { return kFormats; }

const BenchFormat* find_bench_format(std::string_view name) {
  const auto* it = std::ranges::find(kFormats, name, &BenchFormat::name);
  return it == std::end(kFormats) ? nullptr : it;
}

}  // namespace brisk::tools
