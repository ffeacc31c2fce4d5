#include "gguf/reader.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "gguf/foreign.hpp"
#include "gguf/name_order.hpp"
#include "gguf/parse.hpp"
#include "gguf/quote.hpp"
#include "gguf/split_name.hpp"

namespace brisk::gguf {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSplitNo = "split.no";
constexpr std::string_view kSplitCount = "split.count";
constexpr std::string_view kSplitTensors = "split.tensors.count";

const std::string& name_of_tensor(const TensorInfo& tensor) { return tensor.name; }

FileBytes open_bytes(const fs::path& path, FileBytes::Mode mode) {
  if (mode == FileBytes::Mode::read) {
    // A file that is no GGUF at all may be huge: look at its start before its whole is read into memory.
    const FileBytes peek(path, FileBytes::Mode::map);
    const auto bytes = peek.bytes();
    const bool is_gguf = bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
    if (!is_gguf) fail(ErrorCode::corrupt, "{}: {}", path.string(), describe_foreign(bytes));
  }
  return FileBytes(path, mode);
}

/// The parts' paths, all of which exist.
std::vector<fs::path> find_parts(const fs::path& first, const Metadata& metadata, uint64_t count) {
  const uint64_t number = metadata.get_uint(kSplitNo).value_or(0) + 1;
  const std::optional<SplitName> name = parse_split_name(first);
  if (number != 1) {
    const std::string part_1 =
        name ? split_path(name->prefix, 1, name->count).filename().string() : "the file of part 1";
    fail(ErrorCode::invalid_argument,
         "{}: this is part {} of {} of a split model; open {}, the others are found by name", first.string(), number,
         count, part_1);
  }
  if (!name || name->number != 1 || name->count != count) {
    fail(ErrorCode::invalid_argument,
         "{}: this is part 1 of {} of a split model, so its name must end in -00001-of-{:05}.gguf for the other parts "
         "to "
         "be found",
         first.string(), count, count);
  }
  std::vector<fs::path> paths = {first};
  std::vector<std::string> missing;
  for (uint32_t i = 2; i <= count; ++i) {
    paths.push_back(split_path(name->prefix, i, name->count));
    if (!fs::exists(paths.back())) missing.push_back(paths.back().filename().string());
  }
  if (!missing.empty()) {
    fail(ErrorCode::not_found, "{}: {} of the model's {} parts are missing beside it: {}", first.string(),
         missing.size(), count, fmt::join(missing, ", "));
  }
  return paths;
}

void check_part(const fs::path& path, const Metadata& metadata, uint64_t index, uint64_t count) {
  const auto number = metadata.get_uint(kSplitNo);
  const auto declared = metadata.get_uint(kSplitCount);
  if (number == index && declared == count) return;
  const auto show = [](const std::optional<uint64_t>& value) { return value ? fmt::format("{}", *value) : "absent"; };
  fail(ErrorCode::corrupt,
       "{}: {} is {} and {} is {}, but {} and {} are expected of this part; it belongs to another model", path.string(),
       kSplitNo, show(number), kSplitCount, show(declared), index, count);
}

}  // namespace

Model Model::open(const fs::path& path, const OpenOptions& options) {
  Model model;
  model.path_ = path;
  model.files_.push_back(open_bytes(path, options.mode));
  ParsedFile first = parse(model.files_[0].bytes(), path.string());
  model.metadata_ = std::move(first.metadata);
  model.tensors_ = std::move(first.tensors);
  model.version_ = first.version;
  model.alignment_ = first.alignment;
  const uint64_t count = model.metadata_.get_uint(kSplitCount).value_or(0);
  if (count > 1 && options.follow_splits) {
    const std::vector<fs::path> paths = find_parts(path, model.metadata_, count);
    for (size_t i = 1; i < paths.size(); ++i) model.add_part(paths[i], i, paths.size(), options.mode);
    const auto total = model.metadata_.get_uint(kSplitTensors);
    if (total && *total != model.tensors_.size()) {
      fail(ErrorCode::corrupt, "{}: {} is {}, but the {} parts hold {} tensors", path.string(), kSplitTensors, *total,
           count, model.tensors_.size());
    }
  }
  model.by_name_ = order_by_name(model.tensors_, name_of_tensor);
  if (const auto equal = find_equal(model.tensors_, model.by_name_, name_of_tensor)) {
    const TensorInfo& again = model.tensors_[equal->second];
    fail(ErrorCode::corrupt, "{}: tensor {} of part {} stands in part {} too", path.string(), in_quotes(again.name),
         again.file + 1, model.tensors_[equal->first].file + 1);
  }
  return model;
}

void Model::add_part(const fs::path& path, uint64_t index, uint64_t count, FileBytes::Mode mode) {
  files_.push_back(open_bytes(path, mode));
  ParsedFile part = parse(files_.back().bytes(), path.string());
  check_part(path, part.metadata, index, count);
  for (TensorInfo& tensor : part.tensors) {
    tensor.file = static_cast<uint32_t>(index);
    tensors_.push_back(std::move(tensor));
  }
}

const TensorInfo* Model::find_tensor(std::string_view name) const noexcept {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [this](uint32_t i, std::string_view wanted) { return tensors_[i].name < wanted; });
  if (at == by_name_.end() || tensors_[*at].name != name) return nullptr;
  return &tensors_[*at];
}

std::span<const std::byte> Model::bytes_of(const TensorInfo& tensor) const noexcept {
  return files_[tensor.file].bytes().subspan(tensor.offset, tensor.size_bytes);
}

void Model::release(const TensorInfo& tensor, uint64_t size) const noexcept {
  files_[tensor.file].release(tensor.offset, std::min(size, tensor.size_bytes));
}

uint64_t Model::file_bytes() const noexcept {
  uint64_t total = 0;
  for (const FileBytes& file : files_) total += file.bytes().size();
  return total;
}

}  // namespace brisk::gguf
