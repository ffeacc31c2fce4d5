#include "gguf/parse.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/checked.hpp"
#include "gguf/foreign.hpp"
#include "gguf/name_order.hpp"
#include "gguf/quote.hpp"

namespace brisk::gguf {

static_assert(std::endian::native == std::endian::little, "fields are read as they lie in the file");

namespace {

constexpr uint64_t kHeaderBytes = 24;
constexpr uint64_t kMinPairBytes = 13;    // length and one byte of the key, type id
constexpr uint64_t kMinTensorBytes = 25;  // length and one byte of the name, dim count, type id, offset
constexpr uint64_t kMaxKeyBytes = 65535;  // the specification's bound
constexpr uint64_t kMaxNameBytes = 63;    // programs of this format keep names in 64 bytes with a terminator
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kMinAlignment = 8;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
constexpr std::string_view kAlignmentKey = "general.alignment";

const std::string& key_of(const Metadata::Entry& entry) { return entry.first; }
const std::string& name_of_tensor(const TensorInfo& tensor) { return tensor.name; }

std::string show_shape(const TensorInfo& tensor) {
  std::string out = "[";
  for (int i = 0; i < std::max(tensor.n_dims, 1); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ", ", tensor.shape[static_cast<size_t>(i)]);
  }
  return out + "]";
}

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, const std::string& file_name, bool collect)
      : bytes_(bytes), file_name_(file_name), collect_(collect) {}

  ParsedFile run() {
    try {
      read_header();
      read_pairs();
      read_tensors();
      check_data();
    } catch (const Error& error) {
      if (!collect_) throw;
      file_.problems.push_back({error.code(), error.what(), std::nullopt});
    }
    if (entries_) file_.metadata = Metadata(file_name_, std::move(*entries_));
    return std::move(file_);
  }

 private:
  /// What is being read, for messages: "tensor 3 of 7 ('blk.0.attn_q.weight')".
  struct Place {
    const char* kind;
    uint64_t index;
    uint64_t count;
    std::string_view name;
  };

  /// Ends the reading: nothing behind this place can be found.
  template <typename... Args>
  [[noreturn]] void stop(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) const {
    const std::string message = fmt::format(format, std::forward<Args>(args)...);
    throw Error(code, collect_ ? message : fmt::format("{}: {}", file_name_, message));
  }

  /// A problem behind which reading could go on.
  template <typename... Args>
  void report(ErrorCode code, std::optional<size_t> tensor, fmt::format_string<Args...> format, Args&&... args) {
    std::string message = fmt::format(format, std::forward<Args>(args)...);
    if (!collect_) throw Error(code, fmt::format("{}: {}", file_name_, message));
    file_.problems.push_back({code, std::move(message), tensor});
  }

  [[nodiscard]] uint64_t remaining() const noexcept { return bytes_.size() - at_; }

  [[nodiscard]] std::string place() const {
    std::string out = fmt::format("{} {} of {}", place_.kind, place_.index + 1, place_.count);
    if (!place_.name.empty()) out += fmt::format(" ({})", in_quotes(place_.name));
    return out;
  }

  std::span<const std::byte> take(uint64_t size, const char* what) {
    if (size > remaining()) {
      stop(ErrorCode::corrupt,
           "{}: {} needs {} bytes, but only {} are left of the file's {}; the file is damaged or its download "
           "incomplete",
           place(), what, size, remaining(), bytes_.size());
    }
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }

  template <typename T>
  T take_number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view take_string(const char* what) {
    const auto length = take_number<uint64_t>(what);
    const auto text = take(length, what);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  void read_header();
  uint64_t take_count(const char* what, uint64_t min_bytes);
  void read_pairs();
  void read_pair();
  std::string_view take_key();
  Value take_value(uint32_t type_id);
  Array take_array();
  void read_alignment();
  void read_tensors();
  void read_tensor();
  void check_name(const TensorInfo& tensor, size_t index);
  void read_shape(TensorInfo& tensor);
  [[nodiscard]] std::optional<uint64_t> size_of_tensor(const TensorInfo& tensor, size_t index);
  void check_data();
  void place_tensors();
  void check_overlap();
  void check_behind_data();

  std::span<const std::byte> bytes_;
  std::string file_name_;
  bool collect_;
  uint64_t at_ = 0;
  Place place_{"header field", 0, 1, {}};
  ParsedFile file_;
  std::optional<std::vector<Metadata::Entry>> entries_;
};

void Parser::read_header() {
  if (bytes_.size() < 4 || std::memcmp(bytes_.data(), "GGUF", 4) != 0) {
    stop(ErrorCode::corrupt, "{}", describe_foreign(bytes_));
  }
  if (bytes_.size() < kHeaderBytes) {
    stop(ErrorCode::corrupt, "has {} bytes, a GGUF header needs {}; the download is incomplete", bytes_.size(),
         kHeaderBytes);
  }
  at_ = 4;
  const auto version = take_number<uint32_t>("the version");
  file_.version = version;
  if (version != 0 && (version & 0xFFFF) == 0) {
    stop(ErrorCode::unsupported,
         "is a big-endian GGUF file (version {} read the other way round); take or convert the little-endian one",
         __builtin_bswap32(version));
  }
  if (version == 1) {
    stop(ErrorCode::unsupported,
         "is a GGUF file of version 1 (August 2023), which nobody reads any more; convert the "
         "original model again");
  }
  if (version != 2 && version != 3) {
    stop(ErrorCode::unsupported, "has GGUF version {}, brisk reads 2 and 3", version);
  }
  file_.declared_tensors = take_count("tensors", kMinTensorBytes);
  file_.declared_pairs = take_count("metadata pairs", kMinPairBytes);
}

uint64_t Parser::take_count(const char* what, uint64_t min_bytes) {
  const auto count = take_number<uint64_t>("a count");
  const uint64_t possible = (bytes_.size() - kHeaderBytes) / min_bytes;
  if (count > possible) {
    stop(ErrorCode::corrupt, "the header promises {} {}, but {} bytes hold at most {}; the file is damaged",
         static_cast<int64_t>(count), what, bytes_.size(), possible);
  }
  return count;
}

void Parser::read_pairs() {
  entries_.emplace();
  for (uint64_t i = 0; i < file_.declared_pairs; ++i) {
    place_ = {"metadata pair", i, file_.declared_pairs, {}};
    read_pair();
  }
  const auto order = order_by_name(*entries_, key_of);
  if (const auto equal = find_equal(*entries_, order, key_of)) {
    report(ErrorCode::corrupt, std::nullopt, "key {} stands there twice, as pair {} and {}",
           in_quotes((*entries_)[equal->first].first), equal->first + 1, equal->second + 1);
  }
  read_alignment();
}

void Parser::read_pair() {
  const std::string_view key = take_key();
  place_.name = key;
  const auto type_id = take_number<uint32_t>("the value's type");
  Value value = take_value(type_id);
  entries_->emplace_back(std::string(key), value);
}

std::string_view Parser::take_key() {
  const auto length = take_number<uint64_t>("the key's length");
  if (length == 0) stop(ErrorCode::corrupt, "{}: the key is empty", place());
  const auto text = take(length, "the key");
  if (length > kMaxKeyBytes) {
    stop(ErrorCode::corrupt, "{}: the key has {} bytes, at most {} are allowed", place(), length, kMaxKeyBytes);
  }
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

Value Parser::take_value(uint32_t type_id) {
  if (!is_value_type(type_id)) {
    stop(ErrorCode::corrupt, "{}: value type {} does not exist, ids go from 0 to 12", place(), type_id);
  }
  constexpr const char* kWhat = "the value";
  const auto type = static_cast<ValueType>(type_id);
  switch (type) {
    case ValueType::u8:
      return {type, uint64_t{take_number<uint8_t>(kWhat)}};
    case ValueType::i8:
      return {type, int64_t{take_number<int8_t>(kWhat)}};
    case ValueType::u16:
      return {type, uint64_t{take_number<uint16_t>(kWhat)}};
    case ValueType::i16:
      return {type, int64_t{take_number<int16_t>(kWhat)}};
    case ValueType::u32:
      return {type, uint64_t{take_number<uint32_t>(kWhat)}};
    case ValueType::i32:
      return {type, int64_t{take_number<int32_t>(kWhat)}};
    case ValueType::f32:
      return {type, double{take_number<float>(kWhat)}};
    case ValueType::boolean:
      return {type, take_number<uint8_t>(kWhat) != 0};
    case ValueType::string:
      return {type, take_string(kWhat)};
    case ValueType::array:
      return {type, take_array()};
    case ValueType::u64:
      return {type, take_number<uint64_t>(kWhat)};
    case ValueType::i64:
      return {type, take_number<int64_t>(kWhat)};
    case ValueType::f64:
      return {type, take_number<double>(kWhat)};
  }
  BRISK_CHECK(false, "all types are handled above");
}

Array Parser::take_array() {
  const auto element_id = take_number<uint32_t>("the array's element type");
  const auto count = take_number<uint64_t>("the array's length");
  const auto element = static_cast<ValueType>(element_id);
  if (element == ValueType::array) stop(ErrorCode::corrupt, "{}: an array of arrays is not allowed", place());
  if (!is_value_type(element_id)) {
    stop(ErrorCode::corrupt, "{}: element type {} does not exist, ids go from 0 to 12", place(), element_id);
  }
  // A string takes at least the 8 bytes of its length.
  const uint64_t min_bytes = element == ValueType::string ? 8 : size_of(element);
  if (count > remaining() / min_bytes) {
    stop(ErrorCode::corrupt, "{}: an array of {} {} elements cannot be in the {} bytes that are left of the file",
         place(), count, name_of(element), remaining());
  }
  if (element != ValueType::string) return {element, count, take(count * min_bytes, "the array")};
  const uint64_t start = at_;
  for (uint64_t i = 0; i < count; ++i) take_string("a string of the array");
  return {element, count, bytes_.subspan(start, at_ - start)};
}

void Parser::read_alignment() {
  const auto found = std::find_if(entries_->begin(), entries_->end(),
                                  [](const Metadata::Entry& entry) { return entry.first == kAlignmentKey; });
  if (found == entries_->end()) return;
  const Value& value = found->second;
  if (value.type != ValueType::u32) {
    report(ErrorCode::corrupt, std::nullopt, "{} has type {}, it must be u32", kAlignmentKey, name_of(value.type));
    return;
  }
  const uint64_t alignment = std::get<uint64_t>(value.data);
  if (!std::has_single_bit(alignment) || alignment < kMinAlignment || alignment > kMaxAlignment) {
    report(ErrorCode::corrupt, std::nullopt, "{} is {}, it must be a power of two from {} to {}", kAlignmentKey,
           alignment, kMinAlignment, kMaxAlignment);
    return;
  }
  file_.alignment = alignment;
}

void Parser::read_tensors() {
  for (uint64_t i = 0; i < file_.declared_tensors; ++i) {
    place_ = {"tensor", i, file_.declared_tensors, {}};
    read_tensor();
  }
  const auto order = order_by_name(file_.tensors, name_of_tensor);
  if (const auto equal = find_equal(file_.tensors, order, name_of_tensor)) {
    report(ErrorCode::corrupt, equal->second, "tensor {} stands there twice, as tensor {} and {}",
           in_quotes(file_.tensors[equal->first].name), equal->first + 1, equal->second + 1);
  }
}

void Parser::read_tensor() {
  const size_t index = file_.tensors.size();
  TensorInfo tensor{};
  const std::string_view name = take_string("the name");
  place_.name = name;
  tensor.name = name;
  check_name(tensor, index);
  read_shape(tensor);
  tensor.dtype = static_cast<DType>(take_number<uint32_t>("the type"));
  tensor.offset = take_number<uint64_t>("the offset");
  tensor.size_bytes = size_of_tensor(tensor, index).value_or(0);
  file_.tensors.push_back(std::move(tensor));
}

void Parser::check_name(const TensorInfo& tensor, size_t index) {
  if (tensor.name.empty()) {
    report(ErrorCode::corrupt, index, "{}: the name is empty", place());
  } else if (tensor.name.size() > kMaxNameBytes) {
    report(ErrorCode::corrupt, index, "{}: the name has {} bytes, at most {} are allowed", place(), tensor.name.size(),
           kMaxNameBytes);
  } else if (tensor.name.find('\0') != std::string::npos) {
    report(ErrorCode::corrupt, index, "{}: the name contains a zero byte", place());
  }
}

void Parser::read_shape(TensorInfo& tensor) {
  const auto n_dims = take_number<uint32_t>("the number of dimensions");
  if (n_dims > kMaxDims) {
    stop(ErrorCode::corrupt, "{}: {} dimensions, at most {} are allowed", place(), n_dims, kMaxDims);
  }
  tensor.n_dims = static_cast<int>(n_dims);
  tensor.shape = {1, 1, 1, 1};
  for (uint32_t i = 0; i < n_dims; ++i) tensor.shape[i] = take_number<int64_t>("a dimension");
}

std::optional<uint64_t> Parser::size_of_tensor(const TensorInfo& tensor, size_t index) {
  std::optional<int64_t> count = 1;
  for (size_t i = 0; i < kMaxDims; ++i) {
    if (tensor.shape[i] <= 0) {
      report(ErrorCode::corrupt, index, "{}: dimension {} is {}, it must be positive", place(), i, tensor.shape[i]);
      return std::nullopt;
    }
    if (count) count = checked_mul(*count, tensor.shape[i]);
  }
  const auto type_id = static_cast<uint32_t>(tensor.dtype);
  const DTypeTraits* type = find_dtype(type_id);
  if (type == nullptr) {
    report(ErrorCode::unsupported, index, "{}: {}", place(), describe_unknown_dtype(type_id));
    return std::nullopt;
  }
  if (tensor.shape[0] % type->block_length != 0) {
    report(ErrorCode::corrupt, index, "{}: its rows have {} elements, which is no multiple of the {} of a {} block",
           place(), tensor.shape[0], type->block_length, type->name);
    return std::nullopt;
  }
  const auto blocks = count ? std::optional(static_cast<uint64_t>(*count) / type->block_length) : std::nullopt;
  const auto size = blocks ? checked_mul<uint64_t>(*blocks, type->block_bytes) : std::nullopt;
  const auto padded = size ? checked_align(*size, file_.alignment) : std::nullopt;
  if (!padded || *padded > INT64_MAX) {
    report(ErrorCode::corrupt, index, "{}: the size of shape {} in type {} overflows 63 bits", place(),
           show_shape(tensor), type->name);
    return std::nullopt;
  }
  return size;
}

void Parser::check_data() {
  if (file_.tensors.empty()) {
    file_.data_start = file_.data_end = at_;
  } else {
    file_.data_start = *checked_align(at_, file_.alignment);
    file_.data_end = file_.data_start;
    place_tensors();
    check_overlap();
  }
  check_behind_data();
}

/// Turns offsets from the data start into offsets from the file's start, and bounds every tensor by the file.
void Parser::place_tensors() {
  for (size_t i = 0; i < file_.tensors.size(); ++i) {
    TensorInfo& tensor = file_.tensors[i];
    place_ = {"tensor", i, file_.declared_tensors, tensor.name};
    if (tensor.offset % file_.alignment != 0) {
      report(ErrorCode::corrupt, i, "{}: offset {} is no multiple of the alignment {}", place(), tensor.offset,
             file_.alignment);
    }
    const auto start = checked_add(file_.data_start, tensor.offset);
    const auto end = start ? checked_add(*start, tensor.size_bytes) : std::nullopt;
    if (!end) {
      report(ErrorCode::corrupt, i, "{}: offset {} plus {} bytes overflows", place(), tensor.offset, tensor.size_bytes);
      tensor.size_bytes = 0;
      continue;
    }
    tensor.offset = *start;
    if (*end > bytes_.size()) {
      report(ErrorCode::corrupt, i,
             "{}: it needs bytes {} to {}, the file has {}; the file is incomplete, download it again", place(), *start,
             *end, bytes_.size());
      continue;
    }
    file_.data_end = std::max(file_.data_end, std::min(*checked_align(*end, file_.alignment), bytes_.size()));
  }
}

void Parser::check_overlap() {
  std::vector<uint32_t> order(file_.tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(file_.tensors[a].offset, a) < std::pair(file_.tensors[b].offset, b);
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = file_.tensors[order[i - 1]];
    const TensorInfo& tensor = file_.tensors[order[i]];
    if (before.size_bytes <= tensor.offset - before.offset) continue;
    report(ErrorCode::corrupt, order[i], "tensor {} starts at byte {}, inside tensor {} (bytes {} to {})",
           in_quotes(tensor.name), tensor.offset, in_quotes(before.name), before.offset,
           before.offset + before.size_bytes);
  }
}

/// Extra bytes are harmless, unless they are another model: the parts of a split one joined by 'cat'.
void Parser::check_behind_data() {
  if (file_.data_end >= bytes_.size()) return;  // also where a damaged file ends inside the padding of its header
  const auto behind = bytes_.subspan(file_.data_end);
  if (behind.size() < 4 || std::memcmp(behind.data(), "GGUF", 4) != 0) return;
  report(ErrorCode::corrupt, std::nullopt,
         "another GGUF file starts at byte {}: this is a part of a split model with extra bytes (files joined with "
         "'cat'); "
         "join the parts with the merge tool, or keep them apart and load part 1",
         file_.data_end);
}

}  // namespace

ParsedFile parse(std::span<const std::byte> bytes, const std::string& file_name) {
  return Parser(bytes, file_name, false).run();
}

ParsedFile parse_damaged(std::span<const std::byte> bytes, const std::string& file_name) {
  return Parser(bytes, file_name, true).run();
}

}  // namespace brisk::gguf
