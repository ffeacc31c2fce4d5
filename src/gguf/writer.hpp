#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/file.hpp"
#include "gguf/metadata.hpp"
#include "gguf/tensor_info.hpp"

namespace brisk::gguf {

/// Writes a GGUF file: the header at once, then the tensors' bytes as they come, so that no more than one piece is ever
/// in memory. The file gets its name at finish(); a writer that is destroyed before leaves nothing behind.
///
/// A file that was read and is written again unchanged has the same bytes (when its tensors lie in the order of their
/// infos without gaps, as all writers put them).
class Writer {
 public:
  /// Of `tensors` name, dtype, shape and n_dims count (0 n_dims: as many as needed); offsets follow from their order.
  /// The alignment is metadata's general.alignment, else 32. Throws invalid_argument for what the reader would refuse.
  Writer(const std::filesystem::path& path, const Metadata& metadata, std::span<const TensorInfo> tensors,
         uint32_t version = 3);

  /// The next bytes of the tensors' data, in the order of the tensors and cut anywhere; padding is added here.
  void append(std::span<const std::byte> bytes);

  /// All bytes of all tensors must have come.
  void finish();

  [[nodiscard]] uint64_t written_bytes() const noexcept { return written_; }

 private:
  void pad();
  void put(std::span<const std::byte> bytes);

  AtomicFile file_;
  std::vector<uint64_t> sizes_;  ///< bytes of each tensor
  uint64_t alignment_ = 32;
  uint64_t written_ = 0;
  size_t tensor_ = 0;          ///< the one that is being written
  uint64_t tensor_bytes_ = 0;  ///< what came of it
};

/// Header with padding, as Writer puts it. (For tools that count or compare before they write.)
[[nodiscard]] std::vector<std::byte> encode_header(const Metadata& metadata, std::span<const TensorInfo> tensors,
                                                   uint32_t version = 3);

}  // namespace brisk::gguf
