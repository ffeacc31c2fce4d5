#include "gguf/writer.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "gguf/name_order.hpp"
#include "gguf/quote.hpp"

namespace brisk::gguf {

namespace {

class Bytes {
 public:
  template <typename T>
  void number(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void string(std::string_view text) {
    number<uint64_t>(text.size());
    raw(std::as_bytes(std::span(text)));
  }
  void pad_to(uint64_t alignment) { bytes_.resize(*checked_align(bytes_.size(), alignment)); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

void put_scalar(Bytes& out, const Value& value) {
  const auto unsigned_of = [&value] { return std::get<uint64_t>(value.data); };
  const auto signed_of = [&value] { return std::get<int64_t>(value.data); };
  switch (value.type) {
    case ValueType::u8:
      return out.number(static_cast<uint8_t>(unsigned_of()));
    case ValueType::u16:
      return out.number(static_cast<uint16_t>(unsigned_of()));
    case ValueType::u32:
      return out.number(static_cast<uint32_t>(unsigned_of()));
    case ValueType::u64:
      return out.number(unsigned_of());
    case ValueType::i8:
      return out.number(static_cast<int8_t>(signed_of()));
    case ValueType::i16:
      return out.number(static_cast<int16_t>(signed_of()));
    case ValueType::i32:
      return out.number(static_cast<int32_t>(signed_of()));
    case ValueType::i64:
      return out.number(signed_of());
    case ValueType::f32:
      return out.number(static_cast<float>(std::get<double>(value.data)));
    case ValueType::f64:
      return out.number(std::get<double>(value.data));
    case ValueType::boolean:
      return out.number<uint8_t>(std::get<bool>(value.data) ? 1 : 0);
    case ValueType::string:
      return out.string(std::get<std::string_view>(value.data));
    case ValueType::array:
      break;
  }
  const Array& array = std::get<Array>(value.data);
  out.number(static_cast<uint32_t>(array.element_type()));
  out.number(array.size());
  out.raw(array.bytes());
}

int dims_to_write(const TensorInfo& tensor) {
  if (tensor.n_dims > 0) return tensor.n_dims;
  int dims = 4;
  while (dims > 1 && tensor.shape[static_cast<size_t>(dims - 1)] == 1) --dims;
  return dims;
}

uint64_t alignment_of(const Metadata& metadata) {
  const uint64_t alignment = metadata.get_uint("general.alignment").value_or(32);
  if (!std::has_single_bit(alignment) || alignment < 8 || alignment > uint64_t{1} << 20) {
    fail(ErrorCode::invalid_argument, "general.alignment is {}, it must be a power of two from 8 to 1048576",
         alignment);
  }
  return alignment;
}

uint64_t size_of_tensor(const TensorInfo& tensor) {
  const DTypeTraits& type = traits(tensor.dtype);
  std::optional<uint64_t> count = 1;
  for (const int64_t dim : tensor.shape) {
    if (dim <= 0) fail(ErrorCode::invalid_argument, "tensor {}: a dimension is {}", in_quotes(tensor.name), dim);
    if (count) count = checked_mul(*count, static_cast<uint64_t>(dim));
  }
  if (!count || *count > uint64_t{1} << 56) {
    fail(ErrorCode::invalid_argument, "tensor {}: its size overflows", in_quotes(tensor.name));
  }
  if (tensor.shape[0] % type.block_length != 0) {
    fail(ErrorCode::invalid_argument, "tensor {}: rows of {} elements cannot be in blocks of {} ({})",
         in_quotes(tensor.name), tensor.shape[0], type.block_length, type.name);
  }
  return bytes_of(type, *count);
}

void check_names(std::span<const TensorInfo> tensors) {
  const auto name_of = [](const TensorInfo& tensor) -> const std::string& { return tensor.name; };
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name.empty() || tensor.name.size() > 63) {
      fail(ErrorCode::invalid_argument, "tensor name {} has {} bytes, 1 to 63 are allowed", in_quotes(tensor.name),
           tensor.name.size());
    }
  }
  if (const auto equal = find_equal(tensors, order_by_name(tensors, name_of), name_of)) {
    fail(ErrorCode::invalid_argument, "two tensors are named {}", in_quotes(tensors[equal->first].name));
  }
}

}  // namespace

std::vector<std::byte> encode_header(const Metadata& metadata, std::span<const TensorInfo> tensors, uint32_t version) {
  const uint64_t alignment = alignment_of(metadata);
  check_names(tensors);
  Bytes out;
  out.raw(std::as_bytes(std::span("GGUF", 4)));
  out.number(version);
  out.number<uint64_t>(tensors.size());
  out.number<uint64_t>(metadata.entries().size());
  for (const auto& [key, value] : metadata.entries()) {
    out.string(key);
    out.number(static_cast<uint32_t>(value.type));
    put_scalar(out, value);
  }
  uint64_t offset = 0;
  for (const TensorInfo& tensor : tensors) {
    const int dims = dims_to_write(tensor);
    out.string(tensor.name);
    out.number(static_cast<uint32_t>(dims));
    for (int i = 0; i < dims; ++i) out.number(tensor.shape[static_cast<size_t>(i)]);
    out.number(static_cast<uint32_t>(tensor.dtype));
    out.number(offset);
    offset += *checked_align(size_of_tensor(tensor), alignment);
  }
  if (!tensors.empty()) out.pad_to(alignment);
  return out.take();
}

Writer::Writer(const std::filesystem::path& path, const Metadata& metadata, std::span<const TensorInfo> tensors,
               uint32_t version)
    : file_(path), alignment_(alignment_of(metadata)) {
  put(encode_header(metadata, tensors, version));
  sizes_.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) sizes_.push_back(size_of_tensor(tensor));
}

void Writer::put(std::span<const std::byte> bytes) {
  file_.write(bytes);
  written_ += bytes.size();
}

void Writer::pad() {
  constexpr size_t kPiece = 4096;
  static constexpr std::byte kZeros[kPiece] = {};
  uint64_t missing = *checked_align(written_, alignment_) - written_;
  while (missing > 0) {
    const uint64_t piece = std::min<uint64_t>(missing, kPiece);
    put(std::span(kZeros, piece));
    missing -= piece;
  }
}

void Writer::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    BRISK_CHECK(tensor_ < sizes_.size(), "no more bytes than the tensors have");
    const uint64_t piece = std::min<uint64_t>(bytes.size(), sizes_[tensor_] - tensor_bytes_);
    put(bytes.first(piece));
    bytes = bytes.subspan(piece);
    tensor_bytes_ += piece;
    if (tensor_bytes_ < sizes_[tensor_]) continue;
    pad();
    ++tensor_;
    tensor_bytes_ = 0;
  }
}

void Writer::finish() {
  BRISK_CHECK(tensor_ == sizes_.size(), "all bytes of all tensors have come");
  file_.commit();
}

}  // namespace brisk::gguf
