#include "model/hyper_reader.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace brisk::model {

namespace {

// Wider than any published model by a factor of 16 or more, and small enough that products of two fit 63 bits.
constexpr int64_t kMaxWidth = int64_t{1} << 20;
constexpr int64_t kMaxHeads = 8192;
constexpr int64_t kMaxHeadDim = 65536;
constexpr int64_t kMaxVocab = int64_t{1} << 24;

RopeScaling scaling_from_name(const HyperReader& reader, std::string_view name) {
  if (name == "none") return RopeScaling::none;
  if (name == "linear") return RopeScaling::linear;
  if (name == "yarn") return RopeScaling::yarn;
  if (name == "longrope" || name == "su") return RopeScaling::longrope;
  fail(ErrorCode::unsupported, "{}: {} is '{}'; known are none, linear, yarn, longrope", reader.metadata().file_name(),
       reader.name("rope.scaling.type"), name);
}

int32_t vocab_size(const HyperReader& reader) {
  if (const auto tokens = reader.metadata().get_array("tokenizer.ggml.tokens")) {
    if (tokens->size() >= 1 && tokens->size() <= static_cast<uint64_t>(kMaxVocab)) {
      return static_cast<int32_t>(tokens->size());
    }
    fail(ErrorCode::corrupt, "{}: tokenizer.ggml.tokens has {} tokens, expected 1..{}", reader.metadata().file_name(),
         tokens->size(), kMaxVocab);
  }
  return reader.count("vocab_size", {1, kMaxVocab});
}

void read_moe(const HyperReader& reader, HyperParams& hp) {
  hp.moe.n_expert = reader.count_or("expert_count", 0, {0, kMaxExperts});
  hp.moe.n_used = reader.count_or("expert_used_count", 0, {0, kMaxExperts});
  if (hp.moe.n_expert == 0 ? hp.moe.n_used != 0 : hp.moe.n_used < 1 || hp.moe.n_used > hp.moe.n_expert) {
    fail(ErrorCode::corrupt, "{}: {} is {} with {} experts", reader.metadata().file_name(),
         reader.name("expert_used_count"), hp.moe.n_used, hp.moe.n_expert);
  }
}

}  // namespace

int32_t HyperReader::checked(std::string_view key, int64_t value, Bounds bounds) const {
  if (value < bounds.least || value > bounds.most) {
    fail(ErrorCode::corrupt, "{}: {} is {}, expected {}..{}", metadata_.file_name(), name(key), value, bounds.least,
         bounds.most);
  }
  return static_cast<int32_t>(value);
}

int32_t HyperReader::count(std::string_view key, Bounds bounds) const {
  const auto value = metadata_.get_int(name(key));
  if (!value) fail(ErrorCode::corrupt, "{}: key '{}' is missing", metadata_.file_name(), name(key));
  return checked(key, *value, bounds);
}

int32_t HyperReader::count_or(std::string_view key, int32_t fallback, Bounds bounds) const {
  return has(key) ? count(key, bounds) : fallback;
}

std::vector<int32_t> HyperReader::per_layer(std::string_view key, int32_t n_layer, Bounds bounds) const {
  const gguf::Value* value = metadata_.find(name(key));
  if (value == nullptr || value->type != gguf::ValueType::array) {
    return std::vector<int32_t>(static_cast<size_t>(n_layer), count(key, bounds));
  }
  const auto array = metadata_.get_array(name(key));
  if (array->size() != static_cast<uint64_t>(n_layer)) {
    fail(ErrorCode::corrupt, "{}: {} has {} values for {} layers", metadata_.file_name(), name(key), array->size(),
         n_layer);
  }
  std::vector<int32_t> values;
  for (uint64_t i = 0; i < array->size(); ++i) values.push_back(checked(key, array->int_at(i), bounds));
  return values;
}

float HyperReader::positive(std::string_view key) const {
  const auto value = metadata_.get_float(name(key));
  if (!value) fail(ErrorCode::corrupt, "{}: key '{}' is missing", metadata_.file_name(), name(key));
  if (!std::isfinite(*value) || *value <= 0.0f) {
    fail(ErrorCode::corrupt, "{}: {} is {}, expected a positive number", metadata_.file_name(), name(key), *value);
  }
  return *value;
}

float HyperReader::positive_or(std::string_view key, float fallback) const {
  return has(key) ? positive(key) : fallback;
}

float HyperReader::nonzero_or(std::string_view key, float fallback) const {
  const auto value = metadata_.get_float(name(key));
  return !value || *value == 0.0f ? fallback : positive(key);
}

float HyperReader::finite_or(std::string_view key, float fallback) const {
  const auto value = metadata_.get_float(name(key));
  if (value && !std::isfinite(*value)) {
    fail(ErrorCode::corrupt, "{}: {} is {}, expected a number", metadata_.file_name(), name(key), *value);
  }
  return value.value_or(fallback);
}

std::string_view HyperReader::text_or(std::string_view key, std::string_view fallback) const {
  return metadata_.get_string(name(key)).value_or(fallback);
}

bool HyperReader::has(std::string_view key) const { return metadata_.contains(name(key)); }

void read_common(const HyperReader& reader, HyperParams& hp) {
  const int32_t n_layer = reader.count("block_count", {1, kMaxLayers});
  hp.n_vocab = vocab_size(reader);
  hp.n_ctx_train = reader.count("context_length", {});
  hp.n_embd = reader.count("embedding_length", {1, kMaxWidth});
  read_moe(reader, hp);
  const auto n_head = reader.per_layer("attention.head_count", n_layer, {1, kMaxHeads});
  const auto n_head_kv = reader.has("attention.head_count_kv")
                             ? reader.per_layer("attention.head_count_kv", n_layer, {1, kMaxHeads})
                             : n_head;
  const auto n_ff = reader.per_layer("feed_forward_length", n_layer, {1, kMaxWidth * 8});
  hp.layers.resize(static_cast<size_t>(n_layer));
  for (size_t i = 0; i < hp.layers.size(); ++i) {
    if (n_head[i] % n_head_kv[i] != 0) {
      fail(ErrorCode::corrupt, "{}: layer {} has {} heads, no multiple of its {} KV heads",
           reader.metadata().file_name(), i, n_head[i], n_head_kv[i]);
    }
    hp.layers[i].n_head = n_head[i];
    hp.layers[i].n_head_kv = n_head_kv[i];
    hp.layers[i].n_ff = n_ff[i];
  }
  const int32_t head_dim = hp.n_embd / n_head[0];
  if (head_dim < 1 && !reader.has("attention.key_length")) {
    fail(ErrorCode::corrupt, "{}: width {} is less than {} heads", reader.metadata().file_name(), hp.n_embd, n_head[0]);
  }
  hp.head_dim = reader.count_or("attention.key_length", head_dim, {1, kMaxHeadDim});
  hp.head_dim_v = reader.count_or("attention.value_length", head_dim, {1, kMaxHeadDim});
  hp.attention_scale = 1.0f / std::sqrt(static_cast<float>(hp.head_dim));
}

namespace {

struct YarnValues {
  float ext;
  float attn;
};

/// What multiplies cos and sin (Peng 2023, arXiv 2309.00071, section 3.4): with YaRN on, 0.1 ln s + 1 for a factor s >
/// 1, or the ratio of two such terms for models with a log multiplier; with it off, what file or user give.
float yarn_magnitude(const HyperReader& reader, const YarnValues& yarn, float factor) {
  const float file = reader.positive_or("rope.scaling.attn_factor", 1.0f);
  if (yarn.ext == 0.0f) return yarn.attn * file;
  const auto magnitude = [&](float k) { return factor <= 1.0f ? 1.0f : 0.1f * k * std::log(factor) + 1.0f; };
  const float log_multiplier = reader.finite_or("rope.scaling.yarn_log_multiplier", 0.0f);
  const float ratio = log_multiplier != 0.0f ? magnitude(1.0f) / magnitude(log_multiplier) : magnitude(1.0f);
  return ratio * file;
}

float pick(float user, float file) { return user >= 0.0f ? user : file; }

float freq_scale(const HyperReader& reader, const RopeOverrides& overrides, RopeScaling scaling) {
  if (scaling == RopeScaling::none) return 1.0f;
  if (overrides.freq_scale > 0.0f) return overrides.freq_scale;
  return 1.0f / reader.nonzero_or("rope.scaling.factor", reader.nonzero_or("rope.scale_linear", 1.0f));
}

}  // namespace

void read_rope(const HyperReader& reader, const RopeOverrides& overrides, HyperParams& hp) {
  RopeTableParams rope{};
  rope.n_rot = reader.count_or("rope.dimension_count", hp.head_dim, {2, hp.head_dim});
  if (rope.n_rot % 2 != 0) {
    fail(ErrorCode::corrupt, "{}: {} is {}, expected an even number", reader.metadata().file_name(),
         reader.name("rope.dimension_count"), rope.n_rot);
  }
  RopeScaling scaling = scaling_from_name(reader, reader.text_or("rope.scaling.type", "linear"));
  if (overrides.scaling >= 0) scaling = static_cast<RopeScaling>(overrides.scaling);
  rope.freq_base = overrides.freq_base > 0.0f ? overrides.freq_base : reader.positive_or("rope.freq_base", 10000.0f);
  rope.freq_scale = freq_scale(reader, overrides, scaling);
  hp.n_ctx_orig = reader.count_or("rope.scaling.original_context_length", hp.n_ctx_train, {});
  rope.n_ctx_orig = overrides.yarn_orig_ctx > 0 ? overrides.yarn_orig_ctx : hp.n_ctx_orig;
  const float by_type = scaling == RopeScaling::yarn ? 1.0f : 0.0f;
  const float file_ext = reader.finite_or("rope.scaling.yarn_ext_factor", -1.0f);
  const YarnValues yarn{pick(overrides.yarn_ext_factor, pick(file_ext, by_type)),
                        pick(overrides.yarn_attn_factor, reader.positive_or("rope.scaling.yarn_attn_factor", 1.0f))};
  rope.ext_factor = yarn.ext;
  rope.beta_fast = pick(overrides.yarn_beta_fast, reader.positive_or("rope.scaling.yarn_beta_fast", 32.0f));
  rope.beta_slow = pick(overrides.yarn_beta_slow, reader.positive_or("rope.scaling.yarn_beta_slow", 1.0f));
  rope.attn_factor = yarn_magnitude(reader, yarn, 1.0f / rope.freq_scale);
  hp.rope = rope;
  hp.rope_windowed = rope;
}

void read_window(const HyperReader& reader, int32_t period, HyperParams& hp) {
  hp.window = reader.count_or("attention.sliding_window", 0, {0, std::numeric_limits<int32_t>::max()});
  if (hp.window == 0) return;
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const int32_t n_layer = hp.n_layer();
  const gguf::Value* pattern = reader.metadata().find(reader.name(kPattern));
  if (pattern != nullptr && pattern->type == gguf::ValueType::array) {
    const std::vector<int32_t> flags = reader.per_layer(kPattern, n_layer, {0, 1});
    for (size_t i = 0; i < flags.size(); ++i) hp.layers[i].windowed = flags[i] != 0;
    return;
  }
  period = reader.count_or(kPattern, period, {0, kMaxLayers});
  for (int32_t i = 0; i < n_layer; ++i) {
    hp.layers[static_cast<size_t>(i)].windowed = period == 0 || i % period < period - 1;
  }
}

}  // namespace brisk::model
