#include "tools/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/checked.hpp"
#include "base/utf8.hpp"
#include "gguf/split_name.hpp"
#include "tools/inspection.hpp"

namespace brisk::tools {

namespace fs = std::filesystem;

namespace {

/// An integer of the metadata whatever its width; 0 when it is absent or something else.
uint64_t small_count(const gguf::Metadata& metadata, std::string_view key) {
  const gguf::Value* value = metadata.find(key);
  if (value == nullptr) return 0;
  if (const auto* number = std::get_if<uint64_t>(&value->data)) return *number;
  const auto* number = std::get_if<int64_t>(&value->data);
  return number != nullptr && *number > 0 ? static_cast<uint64_t>(*number) : 0;
}

void take_problems(Inspection& found, const gguf::ParsedFile& part, size_t first_tensor, const std::string& prefix) {
  for (const gguf::Problem& problem : part.problems) {
    found.problems.push_back(prefix + problem.message);
    if (problem.tensor) found.tensor_problems.emplace(first_tensor + *problem.tensor, problem.message);
  }
}

void add_part(Inspection& found, const fs::path& path, uint64_t number) {
  const std::string name = path.filename().string();
  if (!fs::exists(path)) {
    found.problems.push_back(fmt::format("part {} of {} is missing: {}", number, found.part_count, name));
    return;
  }
  found.files.emplace_back(path, FileBytes::Mode::map);
  found.part_names.push_back(name);
  gguf::ParsedFile part = gguf::parse_damaged(found.files.back().bytes(), path.string());
  const size_t first_tensor = found.header.tensors.size();
  take_problems(found, part, first_tensor, name + ": ");
  for (gguf::TensorInfo& tensor : part.tensors) {
    tensor.file = static_cast<uint32_t>(found.files.size() - 1);
    found.header.tensors.push_back(std::move(tensor));
  }
}

void add_other_parts(Inspection& found) {
  const auto name = gguf::parse_split_name(found.path);
  if (found.part_number != 1) return;
  if (!name || name->number != 1 || name->count != found.part_count) {
    found.problems.push_back(
        fmt::format("this is part 1 of {} of a split model, so its name must end in "
                    "-00001-of-{:05}.gguf for the other parts to be found",
                    found.part_count, found.part_count));
    return;
  }
  for (uint32_t i = 2; i <= name->count; ++i) add_part(found, gguf::split_path(name->prefix, i, name->count), i);
}

Inspection look_into(const fs::path& path) {
  Inspection found;
  found.path = path;
  found.files.emplace_back(path, FileBytes::Mode::map);
  found.part_names.push_back(path.filename().string());
  found.header = gguf::parse_damaged(found.files[0].bytes(), path.string());
  take_problems(found, found.header, 0, "");
  found.part_count = small_count(found.header.metadata, "split.count");
  if (found.part_count > 1) {
    found.part_number = small_count(found.header.metadata, "split.no") + 1;
    add_other_parts(found);
  }
  return found;
}

uint64_t element_count(const gguf::TensorInfo& tensor) {
  std::optional<uint64_t> count = 1;
  for (const int64_t dim : tensor.shape) {
    if (count) count = checked_mul(*count, static_cast<uint64_t>(std::max<int64_t>(dim, 0)));
  }
  return count.value_or(0);
}

}  // namespace

uint64_t Inspection::total_bytes() const {
  uint64_t total = 0;
  for (const FileBytes& file : files) total += file.bytes().size();
  return total;
}

std::string type_name(const gguf::TensorInfo& tensor) {
  const auto id = static_cast<uint32_t>(tensor.dtype);
  const DTypeTraits* type = find_dtype(id);
  return type != nullptr ? std::string(type->name) : fmt::format("?{}", id);
}

std::vector<TypeTotal> totals_by_type(const Inspection& found) {
  std::map<std::string, TypeTotal> by_type;
  for (const gguf::TensorInfo& tensor : found.header.tensors) {
    TypeTotal& total = by_type[type_name(tensor)];
    ++total.tensors;
    total.elements += element_count(tensor);
    total.bytes += tensor.size_bytes;
  }
  std::vector<TypeTotal> totals;
  for (auto& [type, total] : by_type) {
    total.type = type;
    totals.push_back(std::move(total));
  }
  std::stable_sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return totals;
}

gguf::Array first_elements(const gguf::Array& array, size_t limit) {
  return {array.element_type(), std::min<uint64_t>(array.size(), limit), array.bytes()};
}

std::string shortened(std::string_view text, size_t limit) {
  if (text.size() <= limit) return utf8::sanitize(text);
  const std::string_view start = text.substr(0, limit);
  return utf8::sanitize(start.substr(0, utf8::complete_prefix(start))) + "...";
}

InspectResult inspect(const fs::path& path, const InspectOptions& options) {
  const Inspection found = look_into(path);
  return {options.json ? json_report(found, options) : text_report(found, options), found.problems.empty()};
}

}  // namespace brisk::tools
