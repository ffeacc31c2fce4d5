#include "cpu/weight_loader.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "cpu/cpu_buffer.hpp"

namespace brisk::cpu {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kCopyPart = 1 << 20;
// Of a file's pages so much is in memory beside the packed weights: an embedding of 178 MB made the peak of loading 1.5
// times the file before it was packed in pieces.
constexpr int64_t kPackPiece = int64_t{16} << 20;

uint64_t align(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

bool packs(const WeightSource& source) {
  return !source.rows_only && source.shape.rows() != 1 && is_weight_type(source.dtype);
}

/// Matrices of a stack.
int64_t matrix_count(const Shape& shape) { return shape[2] * shape[3]; }

uint64_t packed_bytes(const WeightSource& source) {
  const uint64_t groups = static_cast<uint64_t>(group_count(source.shape[1]) * matrix_count(source.shape));
  return groups * group_bytes(pack_format(source.dtype), source.shape[0]);
}

void check_size(const WeightSource& source) {
  const uint64_t expected = bytes_of(source.dtype, static_cast<uint64_t>(source.shape.count()));
  if (source.bytes.size() != expected) {
    fail(ErrorCode::corrupt, "tensor '{}' {} {} has {} bytes, its shape needs {}", source.name,
         traits(source.dtype).name, to_string(source.shape), source.bytes.size(), expected);
  }
}

void pack_weight(ThreadPool& pool, const WeightSource& source, std::byte* out) {
  const int64_t k = source.shape[0];
  const int64_t n = source.shape[1];
  const int64_t groups = group_count(n);
  const uint64_t row_bytes = bytes_of(source.dtype, static_cast<uint64_t>(k));
  const uint64_t size = group_bytes(pack_format(source.dtype), k);
  const int64_t total = groups * matrix_count(source.shape);
  const auto first_row = [&](int64_t i) { return i / groups * n + i % groups * kGroupRows; };
  const auto pack = [&](int64_t i) {
    const int64_t first = first_row(i);
    const int64_t rows = std::min<int64_t>(kGroupRows, n - i % groups * kGroupRows);
    const auto bytes =
        source.bytes.subspan(static_cast<uint64_t>(first) * row_bytes, static_cast<uint64_t>(rows) * row_bytes);
    pack_group(source.dtype, bytes, k, out + static_cast<uint64_t>(i) * size);
  };
  const int64_t piece = std::max<int64_t>(1, kPackPiece / (static_cast<int64_t>(row_bytes) * kGroupRows));
  for (int64_t begin = 0; begin < total; begin += piece) {
    const int64_t end = std::min(total, begin + piece);
    pool.for_each(end - begin, [&](int64_t i) { pack(begin + i); });
    if (source.release && end < total) source.release(static_cast<uint64_t>(first_row(end)) * row_bytes);
  }
}

void copy_weight(ThreadPool& pool, const WeightSource& source, std::byte* out) {
  const uint64_t size = source.bytes.size();
  pool.for_each(static_cast<int64_t>((size + kCopyPart - 1) / kCopyPart), [&](int64_t i) {
    const uint64_t from = static_cast<uint64_t>(i) * kCopyPart;
    std::memcpy(out + from, source.bytes.data() + from, std::min(kCopyPart, size - from));
  });
}

/// Reports progress; throws when the receiver wants to stop.
class Progress {
 public:
  Progress(std::span<const WeightSource> sources, const WeightOptions& options) : options_(options) {
    for (const WeightSource& source : sources) total_ += source.bytes.size();
  }
  void add(const WeightSource& source) {
    done_ += source.bytes.size();
    if (source.release) source.release(source.bytes.size());
    if (options_.progress && !options_.progress(done_, total_)) fail(ErrorCode::cancelled, "loading was cancelled");
  }

 private:
  const WeightOptions& options_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

std::vector<TensorStorage> borrow_weights(std::span<const WeightSource> sources,
                                          std::vector<std::unique_ptr<Buffer>>& owner) {
  std::vector<TensorStorage> weights;
  for (const WeightSource& source : sources) {
    owner.push_back(std::make_unique<CpuBuffer>(source.bytes.data(), source.bytes.size()));
    weights.push_back({source.name, source.dtype, source.shape, owner.back().get(), 0});
  }
  return weights;
}

}  // namespace

bool is_weight_type(DType dtype) noexcept {
  switch (dtype) {
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::f64:
    case DType::q8_1:
    case DType::q8_k:
      return false;
    default:
      return true;
  }
}

std::vector<TensorStorage> load_weights(ThreadPool& pool, std::span<const WeightSource> sources,
                                        const WeightOptions& options, std::vector<std::unique_ptr<Buffer>>& owner) {
  for (const WeightSource& source : sources) check_size(source);
  Progress progress(sources, options);
  if (!options.repack) {
    auto weights = borrow_weights(sources, owner);
    if (options.progress) {
      for (WeightSource source : sources) {
        source.release = nullptr;  // the bytes stay in use
        progress.add(source);
      }
    }
    return weights;
  }
  uint64_t packed_size = 0;
  uint64_t plain_size = 0;
  std::vector<uint64_t> offsets;
  for (const WeightSource& source : sources) {
    uint64_t& end = packs(source) ? packed_size : plain_size;
    offsets.push_back(end);
    end = align(end + (packs(source) ? packed_bytes(source) : source.bytes.size()));
  }
  auto packed = std::make_unique<CpuBuffer>(Mapping(packed_size, Mapping::Pages::huge, "packed weights"),
                                            CpuBuffer::Layout::packed);
  auto plain =
      std::make_unique<CpuBuffer>(Mapping(plain_size, Mapping::Pages::normal, "weights"), CpuBuffer::Layout::plain);
  std::vector<TensorStorage> weights;
  for (size_t i = 0; i < sources.size(); ++i) {
    const WeightSource& source = sources[i];
    CpuBuffer& buffer = packs(source) ? *packed : *plain;
    packs(source) ? pack_weight(pool, source, buffer.data() + offsets[i])
                  : copy_weight(pool, source, buffer.data() + offsets[i]);
    weights.push_back({source.name, source.dtype, source.shape, &buffer, offsets[i]});
    progress.add(source);
  }
  owner.push_back(std::move(packed));
  owner.push_back(std::move(plain));
  return weights;
}

MatrixView matrix_view(const Tensor& weight, int64_t index) {
  const auto* buffer = dynamic_cast<const CpuBuffer*>(weight.buffer);
  BRISK_CHECK(buffer != nullptr, "a weight lies in memory of the CPU device");
  MatrixView view;
  view.dtype = weight.dtype;
  view.format = pack_format(weight.dtype);
  view.k = weight.shape[0];
  view.n = weight.shape[1];
  view.packed = buffer->layout() == CpuBuffer::Layout::packed;
  const uint64_t size = view.packed ? static_cast<uint64_t>(group_count(view.n)) * group_bytes(view.format, view.k)
                                    : bytes_of(weight.dtype, static_cast<uint64_t>(view.k * view.n));
  view.data = buffer->data() + weight.offset + static_cast<uint64_t>(index) * size;
  return view;
}

}  // namespace brisk::cpu
