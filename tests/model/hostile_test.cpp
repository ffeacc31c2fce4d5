// A model file whose fields lie, from open to the third token: an error that names the file, or an answer; never a
// crash, a hang or memory beyond what the file justifies. The same mutations in every run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "cpu/cpu_backend.hpp"
#include "loaded_model.hpp"
#include "test_support/allocations.hpp"
#include "test_support/paths.hpp"
#include "test_support/temp_dir.hpp"
#include "tokenizer/tokenizer.hpp"

namespace brisk::model::test {
namespace {

using brisk::test::AllocationWatch;
using brisk::test::TempDir;

constexpr int kRounds = 2400;
// What a load costs whatever the file: messages, the architecture's tensor names, sampled tables of the tokenizer
// (byte encoding, compiled split pattern), one graph and its plan.
constexpr size_t kFixedBytes = size_t{3} << 20;

/// What a field of the header says; mutations are chosen by it.
enum class Kind { count, length, type, u8, integer, real, text, dim, offset };

struct Field {
  size_t at;
  size_t size;
  Kind kind;
  std::string key;
};

/// Where the fields of a valid little-endian file of version 3 lie.
class Fields {
 public:
  explicit Fields(const std::string& bytes) : bytes_(bytes) {
    add(4, Kind::type);  // version
    const uint64_t n_tensors = add(8, Kind::count);
    const uint64_t n_pairs = add(8, Kind::count);
    for (uint64_t i = 0; i < n_pairs; ++i) {
      key_ = text();
      value(static_cast<uint32_t>(add(4, Kind::type)));
    }
    for (uint64_t i = 0; i < n_tensors; ++i) tensor();
  }

  [[nodiscard]] const std::vector<Field>& all() const { return fields_; }
  [[nodiscard]] const Field& value_of(const std::string& key) const {
    const auto hit = std::ranges::find_if(
        fields_, [&](const Field& f) { return f.key == key && (f.kind == Kind::integer || f.kind == Kind::real); });
    if (hit == fields_.end()) throw std::out_of_range(key);
    return *hit;
  }

 private:
  uint64_t add(size_t size, Kind kind) {
    uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, std::min<size_t>(size, 8));
    fields_.push_back({at_, size, kind, key_});
    at_ += size;
    return value;
  }

  std::string text() {
    const uint64_t length = add(8, Kind::length);
    if (length > 0) add(length, Kind::text);
    return bytes_.substr(at_ - length, length);
  }

  void tensor() {
    key_ = text();
    const uint64_t n_dims = add(4, Kind::count);
    for (uint64_t d = 0; d < n_dims; ++d) add(8, Kind::dim);
    add(4, Kind::type);
    add(8, Kind::offset);
  }

  void value(uint32_t type) {
    constexpr std::array<size_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    constexpr uint32_t kReal32 = 6, kText = 8, kArray = 9, kReal64 = 12;
    if (type == kText) {
      text();
    } else if (type == kArray) {
      const auto element = static_cast<uint32_t>(add(4, Kind::type));
      const uint64_t n = add(8, Kind::count);
      for (uint64_t i = 0; i < n; ++i) value(element);
    } else if (type == kReal32 || type == kReal64) {
      add(kSizes[type], Kind::real);
    } else {
      add(kSizes[type], kSizes[type] == 1 ? Kind::u8 : Kind::integer);
    }
  }

  const std::string& bytes_;
  size_t at_ = 4;
  std::string key_;
  std::vector<Field> fields_;
};

void put(std::string& bytes, const Field& field, uint64_t value) {
  std::memcpy(bytes.data() + field.at, &value, std::min<size_t>(field.size, 8));
}

class Mutator {
 public:
  Mutator(const std::string& valid, uint32_t seed) : valid_(valid), random_(seed) {
    const Fields fields(valid);
    for (const Field& field : fields.all()) {
      // Tokens and merges are hundreds, hyper-parameters a dozen: each group is hit as often as the others.
      const bool inside =
          field.kind != Kind::text && field.kind != Kind::length && field.key.find(".") != field.key.npos;
      if (field.key.starts_with("tokenizer.ggml.")) {
        groups_[0].push_back(field);
      } else {
        groups_[inside && !field.key.ends_with("weight") && !field.key.ends_with("bias") ? 1 : 2].push_back(field);
      }
    }
  }

  std::string next() {
    std::string bytes = valid_;
    const size_t count = 1 + below(4) / 3;
    for (size_t i = 0; i < count; ++i) mutate(bytes);
    return bytes;
  }

 private:
  size_t below(size_t bound) { return random_() % bound; }

  void mutate(std::string& bytes) {
    const size_t what = below(16);
    if (what == 0) {
      bytes.resize(below(bytes.size()));
    } else if (what == 1) {
      const size_t at = below(bytes.size());  // the weights, mostly
      for (size_t i = at; i < std::min(bytes.size(), at + 64); ++i) bytes[i] = static_cast<char>(random_());
    } else {
      const std::vector<Field>& fields = groups_[what % groups_.size()];
      const Field& field = fields[below(fields.size())];
      if (field.at + field.size <= bytes.size()) mutate(bytes, field);
    }
  }

  void mutate(std::string& bytes, const Field& field) {
    static constexpr std::array<uint64_t, 18> kNasty = {
        0,   1,     2,       3,       7,          63,         255,        256,        511,
        513, 65536, 1 << 20, 1 << 30, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ull << 62, ~0ull};
    static constexpr std::array<float, 9> kReals = {0.0f,
                                                    -0.0f,
                                                    -1.0f,
                                                    1e-38f,
                                                    1e30f,
                                                    std::numeric_limits<float>::denorm_min(),
                                                    std::numeric_limits<float>::infinity(),
                                                    -std::numeric_limits<float>::infinity(),
                                                    std::numeric_limits<float>::quiet_NaN()};
    uint64_t before = 0;
    std::memcpy(&before, bytes.data() + field.at, std::min<size_t>(field.size, 8));
    switch (field.kind) {
      case Kind::type:
        return put(bytes, field, below(44));
      case Kind::u8:
        return put(bytes, field, below(256));
      case Kind::text:
        bytes[field.at + below(field.size)] = static_cast<char>(random_());
        return;
      case Kind::real: {
        const float value = kReals[below(kReals.size())];
        std::memcpy(bytes.data() + field.at, &value, sizeof value);
        return;
      }
      default:
        return put(bytes, field, below(4) == 0 ? before + 1 - 2 * below(2) : kNasty[below(kNasty.size())]);
    }
  }

  const std::string& valid_;
  std::mt19937 random_;
  std::array<std::vector<Field>, 3> groups_;  // tokenizer, hyper-parameters, tensors and keys
};

long peak_resident_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class LoadHostile : public testing::Test {
 protected:
  struct Outcome {
    bool model = false, tokenizer = false, decoded = false;
    ErrorCode code = ErrorCode::internal;
    std::string message;
  };

  Outcome open_and_run(const std::string& bytes, int32_t n_ctx = 16) {
    Outcome outcome;
    const auto path = dir_.write("m.gguf", bytes);
    try {
      const auto file = gguf::Model::open(path);
      // Each of the two must hold on its own: a model without words still has logits.
      caught(outcome, [&] { run_tokenizer(file, outcome); });
      run_model(file, n_ctx, outcome);
    } catch (const Error& error) {
      keep(outcome, error);
    }
    return outcome;
  }

 private:
  template <typename Work>
  static void caught(Outcome& outcome, const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      keep(outcome, error);
    }
  }

  static void keep(Outcome& outcome, const Error& error) {
    outcome.code = error.code();
    outcome.message = error.what();
    EXPECT_NE(static_cast<int>(error.code()), static_cast<int>(ErrorCode::internal)) << error.what();
  }

  static void run_tokenizer(const gguf::Model& file, Outcome& outcome) {
    const auto tokenizer = tokenizer::Tokenizer::load(file.metadata());
    const std::vector<int32_t> ids = tokenizer->encode("hello world <|im_end|>\n", {true, true});
    for (const int32_t id : ids) {
      ASSERT_GE(id, 0);
      ASSERT_LT(id, tokenizer->vocab().n_tokens());
    }
    const std::string text = tokenizer->decode(ids);
    for (const int32_t id : {-1, 0, 3, 511, 512, std::numeric_limits<int32_t>::max()}) {
      outcome.tokenizer = tokenizer->piece(id, true).size() < (size_t{1} << 20) && text.size() < (size_t{1} << 20);
    }
  }

  void run_model(const gguf::Model& file, int32_t n_ctx, Outcome& outcome) {
    Device& device = *backend_->devices()[0];
    const auto model = Model::load(file, device);
    outcome.model = true;
    RunnerOptions options = exact_options();
    options.n_ctx = n_ctx;
    options.n_batch = options.n_ubatch = 4;
    Runner runner(*model, device, options);
    const std::vector<int32_t> tokens = {0, std::min(1, model->params().n_vocab - 1), model->params().n_vocab - 1};
    for (size_t i = 0; i < tokens.size(); ++i) {
      Batch batch;
      batch.add(tokens[i], static_cast<int32_t>(i), 0, true);
      if (!runner.decode(batch).ok()) return;
      ASSERT_EQ(runner.logits(0).size(), static_cast<size_t>(model->params().n_vocab));
    }
    outcome.decoded = true;
  }

  TempDir dir_;
  std::unique_ptr<Backend> backend_ = make_cpu_backend({});
};

std::string valid_model(const std::string& name) {
  return brisk::test::read_file(brisk::test::data_file("golden/arch/" + name + "/model.gguf"));
}

class LoadMutatedHostile : public LoadHostile, public testing::WithParamInterface<const char*> {};

TEST_P(LoadMutatedHostile, IsRefusedOrAnswers) {
  const std::string valid = valid_model(GetParam());
  ASSERT_TRUE(open_and_run(valid).decoded);
  Mutator mutator(valid, 20260101);
  const long before_kb = peak_resident_kb();
  int decoded = 0, refused = 0;
  for (int round = 0; round < kRounds / 3; ++round) {
    SCOPED_TRACE(round);
    const std::string bytes = mutator.next();
    const AllocationWatch watch;
    const Outcome outcome = open_and_run(bytes);
    ASSERT_LE(watch.peak_bytes(), 2 * bytes.size() + kFixedBytes) << outcome.message;
    if (HasFatalFailure()) return;
    if (outcome.decoded) ++decoded;
    if (!outcome.message.empty()) {
      ++refused;
      ASSERT_NE(outcome.message.find("m.gguf"), std::string::npos) << outcome.message;
    }
  }
  // Both must happen often, else the mutations are too mild or too wild.
  EXPECT_GT(decoded, kRounds / 30);
  EXPECT_GT(refused, kRounds / 12);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(peak_resident_kb() - before_kb, 64 * 1024);
#else
  EXPECT_GT(before_kb, 0);
#endif
}

INSTANTIATE_TEST_SUITE_P(Models, LoadMutatedHostile, testing::Values("qwen2", "gemma3", "mixtral"),
                         [](const auto& model) { return std::string(model.param); });

struct Absurd {
  const char* key;
  uint32_t value;
  const char* message;  ///< a part of it
};

TEST_F(LoadHostile, AbsurdSizesAreRefusedByName) {
  const std::string valid = valid_model("qwen2");
  const Fields fields(valid);
  constexpr uint32_t kMost = 0x7FFFFFFF;
  for (const Absurd& absurd : {
           Absurd{"qwen2.context_length", 0x80000000, "context_length is 2147483648"},
           {"qwen2.context_length", 0, "context_length is 0"},
           {"qwen2.block_count", 512, "missing: blk.2.attn_norm.weight"},
           {"qwen2.block_count", kMost, "block_count is 2147483647"},
           {"qwen2.block_count", 0, "block_count is 0"},
           {"qwen2.block_count", 1, "unknown: blk.1."},
           {"qwen2.embedding_length", kMost, "embedding_length is 2147483647"},
           {"qwen2.embedding_length", 1 << 20, "of another shape: token_embd.weight"},
           {"qwen2.embedding_length", 2, "width 2 is less than 4 heads"},
           {"qwen2.feed_forward_length", kMost, "feed_forward_length is 2147483647"},
           {"qwen2.feed_forward_length", 1 << 22, "of another shape: blk.0.ffn_"},
           {"qwen2.attention.head_count", 1 << 20, "head_count is 1048576"},
           {"qwen2.attention.head_count", 0, "head_count is 0"},
           {"qwen2.attention.head_count", 3, "no multiple of its 2 KV heads"},
           {"qwen2.attention.head_count_kv", 0, "head_count_kv is 0"},
           {"qwen2.attention.head_count_kv", 4, "of another shape: blk.0.attn_k"},
           {"qwen2.rope.freq_base", 0x7FC00000, "rope.freq_base is nan"},
           {"qwen2.attention.layer_norm_rms_epsilon", 0xFF800000, "layer_norm_rms_epsilon is -inf"},
       }) {
    std::string bytes = valid;
    put(bytes, fields.value_of(absurd.key), absurd.value);
    const AllocationWatch watch;
    const Outcome outcome = open_and_run(bytes);
    EXPECT_LE(watch.peak_bytes(), 2 * bytes.size() + kFixedBytes) << absurd.key;
    EXPECT_FALSE(outcome.model) << absurd.key;
    EXPECT_EQ(static_cast<int>(outcome.code), static_cast<int>(ErrorCode::corrupt)) << outcome.message;
    EXPECT_NE(outcome.message.find(absurd.message), std::string::npos) << outcome.message;
  }
}

TEST_F(LoadHostile, TypesThatAreNoWeightsAreRefusedAtLoad) {
  const std::string valid = valid_model("qwen2");
  for (const DType type : {DType::f64, DType::i32, DType::q8_1}) {
    std::string bytes = valid;
    const Fields fields(valid);
    const auto field = std::ranges::find_if(
        fields.all(), [](const Field& f) { return f.key == "output_norm.weight" && f.kind == Kind::type; });
    put(bytes, *field, static_cast<uint64_t>(type));
    if (type == DType::f64) bytes.resize(bytes.size() + 256);  // the last tensor, of 64 elements
    const Outcome outcome = open_and_run(bytes);
    EXPECT_NE(outcome.message.find(fmt::format("output_norm.weight {}", traits(type).name)), std::string::npos)
        << outcome.message;
  }
}

TEST_F(LoadHostile, ContextOfTwoBillionIsNotReserved) {
  std::string bytes = valid_model("qwen2");
  put(bytes, Fields(bytes).value_of("qwen2.context_length"), 0x7FFFFFFF);
  EXPECT_TRUE(open_and_run(bytes).decoded);
  const Outcome whole = open_and_run(bytes, 0);
  EXPECT_TRUE(whole.model);
  EXPECT_FALSE(whole.decoded);
  EXPECT_NE(whole.message.find("2147483647 positions are too many"), std::string::npos) << whole.message;
}

}  // namespace
}  // namespace brisk::model::test
