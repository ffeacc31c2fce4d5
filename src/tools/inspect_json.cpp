#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "tools/inspection.hpp"

namespace brisk::tools {

namespace {

using Json = nlohmann::ordered_json;

/// The shortest decimal of an f32 as a double, so that 0.1f is printed as 0.1.
double shortest(float value) {
  const std::string text = fmt::format("{}", value);
  double out = value;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

Json element_json(const gguf::Array& array, uint64_t i) {
  switch (array.element_type()) {
    case gguf::ValueType::boolean:
      return array.int_at(i) != 0;
    case gguf::ValueType::f32:
      return shortest(static_cast<float>(array.float_at(i)));
    case gguf::ValueType::f64:
      return array.float_at(i);
    case gguf::ValueType::u64: {
      uint64_t value = 0;
      std::memcpy(&value, array.bytes().data() + 8 * i, sizeof value);
      return value;
    }
    default:
      return array.int_at(i);
  }
}

Json array_json(const gguf::Array& array, const InspectOptions& options) {
  Json values = Json::array();
  const gguf::Array start = first_elements(array, options.shown_elements);
  if (array.element_type() == gguf::ValueType::string) {
    start.for_each_string(
        [&](uint64_t, std::string_view text) { values.push_back(shortened(text, options.shown_bytes)); });
  } else {
    for (uint64_t i = 0; i < start.size(); ++i) values.push_back(element_json(array, i));
  }
  return values;
}

Json value_json(const gguf::Value& value, const InspectOptions& options) {
  if (const auto* array = std::get_if<gguf::Array>(&value.data)) return array_json(*array, options);
  if (const auto* text = std::get_if<std::string_view>(&value.data)) return shortened(*text, options.shown_bytes);
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* number = std::get_if<uint64_t>(&value.data)) return *number;
  if (const auto* number = std::get_if<int64_t>(&value.data)) return *number;
  const double number = std::get<double>(value.data);
  return value.type == gguf::ValueType::f32 ? shortest(static_cast<float>(number)) : number;
}

/// A list and not an object: a damaged file may have a key twice.
Json metadata_json(const Inspection& found, const InspectOptions& options) {
  Json list = Json::array();
  for (const auto& [key, value] : found.header.metadata.entries()) {
    Json row = {{"key", utf8::sanitize(key)}, {"type", gguf::name_of(value.type)}};
    if (const auto* array = std::get_if<gguf::Array>(&value.data)) {
      row["element_type"] = gguf::name_of(array->element_type());
      row["count"] = array->size();
    }
    row["value"] = value_json(value, options);
    list.push_back(std::move(row));
  }
  return list;
}

Json tensors_json(const Inspection& found) {
  Json list = Json::array();
  for (size_t i = 0; i < found.header.tensors.size(); ++i) {
    const gguf::TensorInfo& tensor = found.header.tensors[i];
    Json row = {{"name", utf8::sanitize(tensor.name)},
                {"type", type_name(tensor)},
                {"type_id", static_cast<uint32_t>(tensor.dtype)}};
    Json shape = Json::array();
    for (int d = 0; d < std::max(tensor.n_dims, 1); ++d) shape.push_back(tensor.shape[static_cast<size_t>(d)]);
    row["shape"] = std::move(shape);
    row["offset"] = tensor.offset;
    row["bytes"] = tensor.size_bytes;
    if (found.files.size() > 1) row["part"] = tensor.file + 1;
    const auto problem = found.tensor_problems.find(i);
    if (problem != found.tensor_problems.end()) row["problem"] = problem->second;
    list.push_back(std::move(row));
  }
  return list;
}

Json totals_json(const Inspection& found) {
  Json list = Json::array();
  for (const TypeTotal& total : totals_by_type(found)) {
    list.push_back(
        {{"type", total.type}, {"tensors", total.tensors}, {"elements", total.elements}, {"bytes", total.bytes}});
  }
  return list;
}

}  // namespace

std::string json_report(const Inspection& found, const InspectOptions& options) {
  const gguf::ParsedFile& header = found.header;
  Json out = {{"file", utf8::sanitize(found.path.string())}, {"bytes", found.files[0].bytes().size()}};
  if (header.version != 0) {
    out["version"] = header.version;
    out["alignment"] = header.alignment;
    out["declared_pairs"] = header.declared_pairs;
    out["declared_tensors"] = header.declared_tensors;
    out["data_start"] = header.data_start;
    out["data_end"] = header.data_end;
    if (found.part_number > 0) {
      out["split"] = {{"part", found.part_number}, {"count", found.part_count}, {"files", found.part_names}};
    }
    out["metadata"] = metadata_json(found, options);
    out["tensors"] = tensors_json(found);
    out["totals"] = totals_json(found);
  }
  out["problems"] = found.problems;
  out["ok"] = found.problems.empty();
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace brisk::tools
