#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loaded_model.hpp"
#include "test_support/temp_dir.hpp"
#include "tiny_model.hpp"

// Settings that no golden model has, against a straightforward computation in f64.

namespace brisk::model::test {
namespace {

const Tokens kText = {3, 17, 39, 0, 8, 8, 21, 30, 5, 12, 1, 33};

LoadedModel load(const TinyModel& tiny) {
  const brisk::test::TempDir folder;
  return LoadedModel(folder.write("tiny.gguf", tiny.file()));
}

std::vector<float> last_logits(const TinyModel& tiny, int32_t n_ctx = 256) {
  const LoadedModel loaded = load(tiny);
  RunnerOptions options = exact_options();
  options.n_ctx = n_ctx;
  Runner runner = loaded.runner(options);
  const std::vector<float> all = logits_of(runner, 0, kText);
  return {all.end() - tiny.sizes().n_vocab, all.end()};
}

// f32 against f64 over two layers of width 32, values of about 3.
constexpr float kTolerance = 2e-5f;

TEST(Reference, PlainLlama) {
  const TinyModel tiny("llama", {});
  EXPECT_LT(max_difference(last_logits(tiny), reference_logits(tiny, kText, {})), kTolerance);
}

TEST(Reference, GemmaScalesEmbeddingsAndUsesGelu) {
  const TinyModel tiny("gemma", {});
  ReferenceOptions options;
  options.neox = true;
  options.gelu = true;
  options.embedding_scale = std::sqrt(32.0);
  EXPECT_LT(max_difference(last_logits(tiny), reference_logits(tiny, kText, options)), kTolerance);
}

TEST(Reference, AWindowHidesWhatIsBehindIt) {
  TinyModel tiny("llama", {});
  tiny.builder().u32(tiny.key("attention.sliding_window"), 4);
  ReferenceOptions options;
  options.window = 4;
  EXPECT_LT(max_difference(last_logits(tiny), reference_logits(tiny, kText, options)), kTolerance);
  EXPECT_GT(max_difference(last_logits(tiny), reference_logits(tiny, kText, {})), 0.01f);
}

TEST(Reference, PartialRotaryLeavesTheRestOfAHead) {
  TinyModel plain("phi3", {});
  plain.builder().u32(plain.key("rope.dimension_count"), 4);
  for (int il = 0; il < 2; ++il) {
    const std::string prefix = "blk." + std::to_string(il) + ".";
    TinyModel::Values both = plain.values(prefix + "ffn_gate.weight");
    const auto& up = plain.values(prefix + "ffn_up.weight");
    both.insert(both.end(), up.begin(), up.end());
    TinyModel::Values qkv = plain.values(prefix + "attn_q.weight");
    for (const char* part : {"attn_k.weight", "attn_v.weight"}) {
      const auto& more = plain.values(prefix + part);
      qkv.insert(qkv.end(), more.begin(), more.end());
    }
    plain.set(prefix + "attn_qkv.weight", {32, 64}, qkv);
    plain.set(prefix + "ffn_up.weight", {32, 96}, both);
    for (const char* part : {"ffn_gate.weight", "attn_q.weight", "attn_k.weight", "attn_v.weight"}) {
      plain.erase(prefix + part);
    }
  }
  ReferenceOptions options;
  options.neox = true;
  options.n_rot = 4;
  options.frequency = [](int i) { return std::pow(10000.0, -2.0 * i / 4); };
  // The same random numbers, still in their own matrices.
  EXPECT_LT(max_difference(last_logits(plain), reference_logits(TinyModel("phi3", {}), kText, options)), kTolerance);
}

TEST(Reference, YarnMixesAnglesAndScalesThem) {
  TinyModel tiny("llama", {});
  tiny.builder().str(tiny.key("rope.scaling.type"), "yarn");
  tiny.builder().f32(tiny.key("rope.scaling.factor"), 4.0f);
  tiny.builder().u32(tiny.key("rope.scaling.original_context_length"), 64);
  ReferenceOptions options;
  options.magnitude = 0.1 * std::log(4.0) + 1.0;
  options.frequency = [](int i) {
    const auto corr = [](double n) { return 8.0 * std::log(64.0 / (2 * std::numbers::pi * n)) / (2 * std::log(1e4)); };
    const double low = std::max(0.0, std::floor(corr(32.0)));
    const double high = std::min(7.0, std::ceil(corr(1.0)));
    const double ramp = 1.0 - std::clamp((i - low) / std::max(0.001, high - low), 0.0, 1.0);
    const double plain = std::pow(1e4, -2.0 * i / 8);
    return plain / 4.0 * (1.0 - ramp) + plain * ramp;
  };
  EXPECT_LT(max_difference(last_logits(tiny), reference_logits(tiny, kText, options)), kTolerance);
}

TEST(Reference, LongropeTakesItsFactorsByTheConfiguredContext) {
  TinyModel tiny("llama", {});
  tiny.builder().str(tiny.key("rope.scaling.type"), "longrope");
  tiny.builder().u32(tiny.key("rope.scaling.original_context_length"), 128);
  tiny.builder().f32(tiny.key("rope.scaling.attn_factor"), 1.25f);
  tiny.set("rope_factors_short.weight", {4}, {1.0, 1.5, 2.0, 2.5});
  tiny.set("rope_factors_long.weight", {4}, {2.0, 4.0, 8.0, 16.0});
  const auto expected = [&](const char* factors) {
    ReferenceOptions options;
    options.magnitude = 1.25;
    options.frequency = [&tiny, factors](int i) {
      return std::pow(1e4, -2.0 * i / 8) / tiny.values(factors)[static_cast<size_t>(i)];
    };
    return reference_logits(tiny, kText, options);
  };
  EXPECT_LT(max_difference(last_logits(tiny, 128), expected("rope_factors_short.weight")), kTolerance);
  EXPECT_LT(max_difference(last_logits(tiny, 129), expected("rope_factors_long.weight")), kTolerance);
}

TEST(Reference, BiasesAreAdded) {
  TinyModel zero("llama", {});
  zero.set("blk.0.attn_q.bias", {32}, TinyModel::Values(32, 0.0));
  zero.set("blk.1.ffn_down.bias", {32}, TinyModel::Values(32, 0.0));
  const std::vector<float> plain = last_logits(TinyModel("llama", {}));
  EXPECT_EQ(max_difference(last_logits(zero), plain), 0.0f);
  zero.set("blk.1.ffn_down.bias", {32}, TinyModel::Values(32, 0.5));
  EXPECT_GT(max_difference(last_logits(zero), plain), 0.1f);
}

TEST(Reference, ASharedExpertIsSummed) {
  TinyModel tiny("llama", {});
  tiny.builder().u32(tiny.key("expert_count"), 2);
  tiny.builder().u32(tiny.key("expert_used_count"), 1);
  tiny.builder().u32(tiny.key("expert_shared_feed_forward_length"), 48);
  // The routed experts give nothing, the shared one is the dense feed-forward.
  for (int il = 0; il < 2; ++il) {
    const std::string prefix = "blk." + std::to_string(il) + ".";
    for (const char* part : {"ffn_gate", "ffn_up", "ffn_down"}) {
      const TinyModel::Values values = tiny.values(prefix + part + ".weight");
      const bool down = std::string_view(part) == "ffn_down";
      tiny.erase(prefix + part + ".weight");
      tiny.set(prefix + part + "_shexp.weight", down ? std::vector<int64_t>{48, 32} : std::vector<int64_t>{32, 48},
               values);
      tiny.set(prefix + part + "_exps.weight", down ? std::vector<int64_t>{48, 32, 2} : std::vector<int64_t>{32, 48, 2},
               TinyModel::Values(2 * values.size(), 0.0));
    }
    tiny.set(prefix + "ffn_gate_inp.weight", {32, 2}, TinyModel::Values(64, 0.1));
  }
  EXPECT_LT(max_difference(last_logits(tiny), last_logits(TinyModel("llama", {}))), kTolerance);
}

}  // namespace
}  // namespace brisk::model::test
