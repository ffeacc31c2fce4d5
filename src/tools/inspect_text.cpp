#include <fmt/format.h>

#include <algorithm>

#include "tools/inspection.hpp"

namespace brisk::tools {

namespace {

/// 88192320 -> "88.2 MB".
std::string show_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

/// Text in quotes on one line: newlines and other control bytes as escapes, so that a file cannot steer the terminal.
std::string show_text(std::string_view text, size_t limit) {
  std::string out = "\"";
  for (const char c : shortened(text, limit)) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string show_element(const gguf::Array& array, uint64_t i) {
  const gguf::ValueType type = array.element_type();
  if (type == gguf::ValueType::boolean) return array.int_at(i) != 0 ? "true" : "false";
  if (type == gguf::ValueType::f32) return fmt::format("{}", static_cast<float>(array.float_at(i)));
  if (type == gguf::ValueType::f64) return fmt::format("{}", array.float_at(i));
  if (type != gguf::ValueType::u64) return fmt::format("{}", array.int_at(i));
  uint64_t value = 0;  // int_at() refuses what does not fit 63 bits
  std::copy_n(array.bytes().begin() + static_cast<std::ptrdiff_t>(8 * i), 8, reinterpret_cast<std::byte*>(&value));
  return fmt::format("{}", value);
}

std::string show_array(const gguf::Array& array, const InspectOptions& options) {
  std::vector<std::string> shown;
  const gguf::Array start = first_elements(array, options.shown_elements);
  if (array.element_type() == gguf::ValueType::string) {
    start.for_each_string(
        [&](uint64_t, std::string_view text) { shown.push_back(show_text(text, options.shown_bytes)); });
  } else {
    for (uint64_t i = 0; i < start.size(); ++i) shown.push_back(show_element(array, i));
  }
  if (start.size() < array.size()) shown.emplace_back("...");
  return fmt::format("[{}]", fmt::join(shown, ", "));
}

std::string show_value(const gguf::Value& value, const InspectOptions& options) {
  if (const auto* array = std::get_if<gguf::Array>(&value.data)) return show_array(*array, options);
  if (const auto* text = std::get_if<std::string_view>(&value.data)) return show_text(*text, options.shown_bytes);
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<uint64_t>(&value.data)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<int64_t>(&value.data)) return fmt::format("{}", *number);
  const double number = std::get<double>(value.data);
  return value.type == gguf::ValueType::f32 ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
}

std::string show_value_type(const gguf::Value& value) {
  const auto* array = std::get_if<gguf::Array>(&value.data);
  if (array == nullptr) return std::string(gguf::name_of(value.type));
  return fmt::format("{}[{}]", gguf::name_of(array->element_type()), array->size());
}

/// A name without the quotes of show_text.
std::string show_name(std::string_view name) {
  const std::string quoted = show_text(name, 100);
  return quoted.substr(1, quoted.size() - 2);
}

std::string show_shape(const gguf::TensorInfo& tensor) {
  const auto dims = static_cast<std::ptrdiff_t>(std::max(tensor.n_dims, 1));
  return fmt::format("[{}]", fmt::join(tensor.shape.begin(), tensor.shape.begin() + dims, ", "));
}

void put_header(std::string& out, const Inspection& found) {
  const gguf::ParsedFile& header = found.header;
  out +=
      fmt::format("file        {} ({})\n", show_name(found.path.string()), show_bytes(found.files[0].bytes().size()));
  if (header.version == 0) return;
  out += fmt::format("format      GGUF version {}, alignment {}\n", header.version, header.alignment);
  if (found.part_number > 0)
    out += fmt::format("part        {} of {} of a split model\n", found.part_number, found.part_count);
  if (found.files.size() > 1) {
    out += fmt::format("parts       {} found, {} together\n", found.files.size(), show_bytes(found.total_bytes()));
  }
  if (header.data_start > 0) out += fmt::format("data        from byte {} to {}\n", header.data_start, header.data_end);
}

/// "metadata (33)", or "metadata (12 of 33)" where the file ends early.
std::string count_title(const char* title, size_t read, uint64_t declared) {
  if (read == declared) return fmt::format("\n{} ({})\n", title, read);
  return fmt::format("\n{} ({} of {})\n", title, read, static_cast<int64_t>(declared));
}

void put_metadata(std::string& out, const Inspection& found, const InspectOptions& options) {
  const auto& entries = found.header.metadata.entries();
  out += count_title("metadata", entries.size(), found.header.declared_pairs);
  size_t width = 0;
  for (const auto& [key, value] : entries) width = std::max(width, std::min<size_t>(key.size(), 48));
  for (const auto& [key, value] : entries) {
    out +=
        fmt::format("  {:<{}}  {:<10} {}\n", show_name(key), width, show_value_type(value), show_value(value, options));
  }
}

void put_tensors(std::string& out, const Inspection& found) {
  const auto& tensors = found.header.tensors;
  const bool split = found.files.size() > 1;
  out += split ? fmt::format("\ntensors ({})\n", tensors.size())
               : count_title("tensors", tensors.size(), found.header.declared_tensors);
  size_t width = 0;
  for (const auto& tensor : tensors) width = std::max(width, std::min<size_t>(tensor.name.size(), 48));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const gguf::TensorInfo& tensor = tensors[i];
    out += fmt::format("  {:<{}}  {:<8} {:<20} {:>12} bytes at {}", show_name(tensor.name), width, type_name(tensor),
                       show_shape(tensor), tensor.size_bytes, tensor.offset);
    if (split) out += fmt::format(" of part {}", tensor.file + 1);
    const auto problem = found.tensor_problems.find(i);
    out += problem == found.tensor_problems.end() ? "\n" : fmt::format("\n    ! {}\n", problem->second);
  }
}

void put_totals(std::string& out, const Inspection& found) {
  out += "\ntotals\n";
  TypeTotal sum;
  for (const TypeTotal& total : totals_by_type(found)) {
    out += fmt::format("  {:<8} {:>6} tensors {:>15} elements {:>15} bytes\n", total.type, total.tensors,
                       total.elements, total.bytes);
    sum.tensors += total.tensors;
    sum.elements += total.elements;
    sum.bytes += total.bytes;
  }
  out += fmt::format("  {:<8} {:>6} tensors {:>15} elements {:>15} bytes", "all", sum.tensors, sum.elements, sum.bytes);
  if (sum.elements > 0) {
    out += fmt::format(", {:.2f} bits an element",
                       8.0 * static_cast<double>(sum.bytes) / static_cast<double>(sum.elements));
  }
  out += "\n";
}

}  // namespace

std::string text_report(const Inspection& found, const InspectOptions& options) {
  std::string out;
  put_header(out, found);
  if (found.header.version != 0) {
    put_metadata(out, found, options);
    put_tensors(out, found);
    put_totals(out, found);
  }
  if (found.problems.empty()) return out;
  out += fmt::format("\nproblems ({})\n", found.problems.size());
  for (const std::string& problem : found.problems) out += fmt::format("  ! {}\n", problem);
  return out;
}

}  // namespace brisk::tools
