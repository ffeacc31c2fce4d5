#include "tools/bench_format.hpp"

#include <gtest/gtest.h>

namespace brisk::tools {
namespace {

const BenchSchema kSchema{
    .fields = {{"file", FieldType::text},
               {"n", FieldType::integer},
               {"on", FieldType::boolean},
               {"ts", FieldType::real}},
    .columns = {{"model", 8, true}, {"t/s", 12}},
    .build = "abc (7)",
};

BenchResult result() {
  return {.values = {"a \"b\" 'c'", "5", "1", "1.500000"},
          .cells = {"a", "1.50 ± 0.10"},
          .samples = {.n_tokens = 3, .ns = {2'000'000'000, 1'000'000'000}}};
}

std::string printed(std::string_view name) {
  const BenchFormat* format = find_bench_format(name);
  return format->header(kSchema) + format->result(kSchema, result(), true) + format->result(kSchema, result(), false) +
         format->footer(kSchema);
}

TEST(BenchFormat, Markdown) {
  const std::string row = "| a        |  1.50 ± 0.10 |\n";
  EXPECT_EQ(printed("md"),
            "| model    |          t/s |\n| -------- | -----------: |\n" + row + row + "\nbuild: abc (7)\n");
}

TEST(BenchFormat, CsvDoublesQuotes) {
  const std::string row = "\"a \"\"b\"\" 'c'\",\"5\",\"1\",\"1.500000\"\n";
  EXPECT_EQ(printed("csv"), "file,n,on,ts\n" + row + row);
}

TEST(BenchFormat, JsonEscapesAndSeparates) {
  const std::string object =
      "  {\n    \"file\": \"a \\\"b\\\" 'c'\",\n    \"n\": 5,\n    \"on\": true,\n    \"ts\": 1.500000,\n"
      "    \"samples_ns\": [ 2000000000, 1000000000 ],\n    \"samples_ts\": [ 1.5, 3 ]\n  }";
  EXPECT_EQ(printed("json"), "[\n" + object + ",\n" + object + "\n]\n");
}

TEST(BenchFormat, JsonLines) {
  const std::string line =
      "{\"file\": \"a \\\"b\\\" 'c'\", \"n\": 5, \"on\": true, \"ts\": 1.500000, \"samples_ns\": [ 2000000000, "
      "1000000000 "
      "],\"samples_ts\": [ 1.5, 3 ]}\n";
  EXPECT_EQ(printed("jsonl"), line + line);
}

TEST(BenchFormat, SqlTypesAndValues) {
  const std::string insert =
      "INSERT INTO llama_bench (file, n, on, ts) VALUES ('a \"b\" ''c''', '5', '1', '1.500000');\n";
  EXPECT_EQ(printed("sql"),
            "CREATE TABLE IF NOT EXISTS llama_bench (\n  file TEXT,\n  n INTEGER,\n  on INTEGER,\n  ts REAL\n);\n\n" +
                insert + insert);
}

TEST(BenchFormat, NonePrintsNothingAndOthersAreUnknown) {
  EXPECT_EQ(printed("none"), "");
  EXPECT_EQ(find_bench_format("xml"), nullptr);
}

}  // namespace
}  // namespace brisk::tools
