// Mutations of a valid file, the same in every run: an error or a load, never a crash, a hang or an allocation beyond
// what the file justifies.
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "gguf/parse.hpp"
#include "gguf/reader.hpp"
#include "test_support/allocations.hpp"
#include "test_support/gguf_builder.hpp"
#include "test_support/temp_dir.hpp"

namespace brisk {
namespace {

using namespace test;

constexpr int kRounds = 2500;

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string mutate(std::string bytes) {
    const int count = 1 + static_cast<int>(random_() % 3);
    for (int i = 0; i < count && !bytes.empty(); ++i) mutate_once(bytes);
    return bytes;
  }

 private:
  size_t below(size_t bound) { return random_() % bound; }

  /// Most of the interesting bytes are in the header, so two of three hit it.
  size_t position(const std::string& bytes) {
    const size_t reach = below(3) == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 3600);
    return below(reach);
  }

  void mutate_once(std::string& bytes) {
    static constexpr uint64_t kNasty[] = {0,
                                          1,
                                          12,
                                          13,
                                          0x7F,
                                          0xFF,
                                          0x7FFFFFFF,
                                          0x80000000,
                                          0xFFFFFFFF,
                                          1ull << 31,
                                          (1ull << 62) + 1,
                                          1ull << 63,
                                          ~0ull,
                                          ~0ull - 31,
                                          1ull << 40,
                                          43};
    const size_t at = position(bytes);
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random_());
        break;
      case 2:
        overwrite(bytes, at, kNasty[below(std::size(kNasty))], 8);
        break;  // counts, lengths, dims, offsets
      case 3:
        overwrite(bytes, at, kNasty[below(std::size(kNasty))], 4);
        break;  // type ids, n_dims
      case 4:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, std::string(1 + below(16), static_cast<char>(random_())));
        break;
    }
  }

  static void overwrite(std::string& bytes, size_t at, uint64_t value, size_t size) {
    const std::string field = le(value).substr(0, size);
    for (size_t i = 0; i < size && at + i < bytes.size(); ++i) bytes[at + i] = field[i];
  }

  std::mt19937 random_;
};

/// Touches everything that a loaded model offers.
void use(const gguf::Model& model) {
  size_t sum = 0;
  for (const auto& [key, value] : model.metadata().entries()) {
    const auto* array = std::get_if<gguf::Array>(&value.data);
    if (array == nullptr) continue;
    if (array->element_type() == gguf::ValueType::string) {
      array->for_each_string([&sum](uint64_t, std::string_view text) { sum += text.size(); });
    }
  }
  for (const gguf::TensorInfo& tensor : model.tensors()) {
    for (const std::byte byte : model.bytes_of(tensor)) sum += std::to_integer<size_t>(byte);
  }
  EXPECT_NE(sum, 1u);
}

TEST(GgufHostile, MutationsAreRefusedOrLoad) {
  const std::string valid = small_valid_gguf().build();
  Mutator mutator(20240607);
  const TempDir dir;
  int loaded = 0;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = mutator.mutate(valid);
    const auto path = dir.write("m.gguf", bytes);
    const auto mode = round % 2 == 0 ? FileBytes::Mode::map : FileBytes::Mode::read;
    const AllocationWatch watch;
    try {
      use(gguf::Model::open(path, {.mode = mode}));
      ++loaded;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("m.gguf"), std::string_view::npos) << error.what();
      EXPECT_NE(static_cast<int>(error.code()), static_cast<int>(ErrorCode::internal)) << error.what();
      ++refused;
    }
    // 8 KiB: the message and what the file costs by being there (paths, the model object).
    ASSERT_LE(watch.peak_bytes(), 2 * bytes.size() + 8192) << "round " << round;
  }
  // Both must happen often, else the mutations are too mild or too wild.
  EXPECT_GT(loaded, kRounds / 20);
  EXPECT_GT(refused, kRounds / 4);
}

TEST(GgufHostile, DamagedFilesAreParsedAsFarAsTheyGo) {
  const std::string valid = small_valid_gguf().build();
  Mutator mutator(77);
  for (int round = 0; round < kRounds; ++round) {
    const std::string bytes = mutator.mutate(valid);
    const auto view = std::as_bytes(std::span(bytes));
    bool strict_accepts = true;
    try {
      gguf::parse(view, "m.gguf");
    } catch (const Error&) {
      strict_accepts = false;
    }
    const AllocationWatch watch;
    const gguf::ParsedFile parsed = gguf::parse_damaged(view, "m.gguf");
    EXPECT_EQ(parsed.problems.empty(), strict_accepts) << "round " << round;
    ASSERT_LE(watch.peak_bytes(), 2 * bytes.size() + 8192) << "round " << round;
  }
}

TEST(GgufHostile, EveryTruncationIsRefused) {
  const std::string valid = small_valid_gguf().build();
  const auto end = gguf::parse(std::as_bytes(std::span(valid)), "m").tensors.back();
  for (size_t size = 0; size < end.offset + end.size_bytes; ++size) {
    EXPECT_THROW(gguf::parse(std::as_bytes(std::span(valid.data(), size)), "m"), Error) << size;
  }
}

}  // namespace
}  // namespace brisk
