#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench_samples.hpp"

namespace brisk::tools {

enum class FieldType : uint8_t { integer, boolean, real, text };

/// A field of the results: key of json, column of csv and sql.
struct BenchField {
  std::string_view name;
  FieldType type = FieldType::text;
};

/// A column of the Markdown table.
struct BenchColumn {
  std::string_view heading;
  int width = 10;
  bool left = false;  ///< aligned
};

/// What all results of a run have in common.
struct BenchSchema {
  std::vector<BenchField> fields;
  std::vector<BenchColumn> columns;
  std::string build;  ///< "COMMIT (NUMBER)"
};

/// One result. Values are as they are printed; a boolean is 0 or 1.
struct BenchResult {
  std::vector<std::string> values;  ///< by field
  std::vector<std::string> cells;   ///< by column
  BenchSamples samples;
};

/// One way to print results, each part a text that ends with its line.
struct BenchFormat {
  std::string_view name;
  std::string (*header)(const BenchSchema& schema);
  std::string (*result)(const BenchSchema& schema, const BenchResult& result, bool first);
  std::string (*footer)(const BenchSchema& schema);
};

/// md, csv, json, jsonl, sql and none.
[[nodiscard]] std::span<const BenchFormat> bench_formats();
[[nodiscard]] const BenchFormat* find_bench_format(std::string_view name);

}  // namespace brisk::tools
