#include "model/model.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "loaded_model.hpp"
#include "model/arch/arch.hpp"
#include "test_support/paths.hpp"

namespace brisk::model::test {
namespace {

struct Override {
  std::string key, type, text;
};

std::filesystem::path golden(std::string_view architecture) {
  return brisk::test::data_file("golden/arch/" + std::string(architecture) + "/model.gguf");
}

/// The message of the error that loading ends with; "" when it loads.
std::string load_error(std::string_view architecture, const std::vector<Override>& overrides,
                       const LoadOptions& options = {}) {
  gguf::Model file = gguf::Model::open(golden(architecture));
  for (const Override& o : overrides) file.metadata().override_with(o.key, o.type, o.text);
  const LoadedModel any(golden(architecture));
  try {
    static_cast<void>(Model::load(file, *any.device, options));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(HyperParams, AreReadFromTheFile) {
  const LoadedModel loaded(golden("gemma3"));
  const HyperParams& hp = loaded.model->params();
  EXPECT_EQ(hp.architecture, "gemma3");
  EXPECT_EQ(hp.n_layer(), 6);
  EXPECT_EQ(hp.n_embd, 64);
  EXPECT_EQ(hp.n_vocab, 512);
  EXPECT_EQ(hp.layer(0).n_head, 4);
  EXPECT_EQ(hp.layer(0).n_head_kv, 1);
  EXPECT_TRUE(hp.layer(4).windowed);
  EXPECT_FALSE(hp.layer(5).windowed);
  EXPECT_EQ(hp.attention(0).window, 32);
  EXPECT_EQ(hp.attention(5).window, 0);
  EXPECT_FLOAT_EQ(hp.rope.freq_scale, 0.125f);
  EXPECT_FLOAT_EQ(hp.rope.freq_base, 1e6f);
  EXPECT_FLOAT_EQ(hp.rope_windowed.freq_scale, 1.0f);
  EXPECT_FLOAT_EQ(hp.rope_windowed.freq_base, 1e4f);
  EXPECT_FLOAT_EQ(hp.embedding_scale, 8.0f);
  EXPECT_TRUE(loaded.model->tied_embeddings());
  EXPECT_EQ(loaded.model->summary(), "gemma3 0 M, 6 layers, width 64, 4 heads (1 KV), context 256");
}

TEST(HyperParams, ValuesOutOfBoundsAreRefusedByName) {
  struct Case {
    std::string key, type, text, part;
  };
  const Case cases[] = {
      {"llama.block_count", "int", "0", "llama.block_count is 0, expected 1..512"},
      {"llama.block_count", "int", "513", "llama.block_count is 513, expected 1..512"},
      {"llama.embedding_length", "int", "-1", "llama.embedding_length is -1"},
      {"llama.attention.head_count", "int", "0", "llama.attention.head_count is 0"},
      {"llama.attention.head_count_kv", "int", "3", "no multiple of its 3 KV heads"},
      {"llama.context_length", "int", "0", "llama.context_length is 0"},
      {"llama.feed_forward_length", "int", "99999999999", "llama.feed_forward_length is 99999999999"},
      {"llama.expert_count", "int", "1025", "llama.expert_count is 1025, expected 0..1024"},
      {"llama.expert_count", "int", "4", "llama.expert_used_count is 0 with 4 experts"},
      {"llama.expert_used_count", "int", "2", "llama.expert_used_count is 2 with 0 experts"},
      {"llama.attention.layer_norm_rms_epsilon", "float", "0", "layer_norm_rms_epsilon is 0"},
      {"llama.attention.layer_norm_rms_epsilon", "float", "nan", "layer_norm_rms_epsilon is nan"},
      {"llama.rope.freq_base", "float", "inf", "llama.rope.freq_base is inf"},
      {"llama.rope.freq_base", "float", "-1", "llama.rope.freq_base is -1"},
      {"llama.rope.dimension_count", "int", "17", "llama.rope.dimension_count is 17, expected 2..16"},
      {"llama.rope.dimension_count", "int", "7", "expected an even number"},
      {"llama.rope.scaling.type", "str", "cubic", "'cubic'; known are none, linear, yarn, longrope"},
      {"general.architecture", "str", "llamb", "architecture 'llamb' is not supported; supported are gemma,"},
  };
  for (const Case& c : cases) {
    const std::string message = load_error("llama3-rope", {{c.key, c.type, c.text}});
    EXPECT_NE(message.find(c.part), std::string::npos) << c.key << "=" << c.text << " gave: " << message;
    EXPECT_NE(message.find("model.gguf"), std::string::npos) << "the file is named: " << message;
  }
}

TEST(HyperParams, AMissingKeyIsNamed) {
  // The renamed architecture finds none of its keys.
  const std::string message = load_error("llama3-rope", {{"general.architecture", "str", "qwen2"}});
  EXPECT_NE(message.find("key 'qwen2.block_count' is missing"), std::string::npos) << message;
}

TEST(Model, MissingTensorsAreListedInOneError) {
  const std::string message = load_error("llama3-rope", {{"llama.block_count", "int", "3"}});
  EXPECT_NE(message.find("expected 30 tensors for architecture 'llama', got 21"), std::string::npos) << message;
  EXPECT_NE(message.find("missing: blk.2.attn_norm.weight, blk.2.ffn_norm.weight, blk.2.attn_q.weight"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("blk.2.ffn_down.weight"), std::string::npos) << message;
}

TEST(Model, SuperfluousTensorsAreListedInOneError) {
  const std::string message = load_error("llama3-rope", {{"llama.block_count", "int", "1"}});
  EXPECT_NE(message.find("expected 12 tensors"), std::string::npos) << message;
  EXPECT_NE(message.find("unknown: blk.1."), std::string::npos) << message;
  EXPECT_EQ(message.find("missing"), std::string::npos) << message;
}

TEST(Model, MisshapenTensorsAreListedWithBothShapes) {
  const std::string message = load_error("llama3-rope", {{"llama.feed_forward_length", "int", "32"}});
  EXPECT_NE(message.find("of another shape: "), std::string::npos) << message;
  EXPECT_NE(message.find("blk.0.ffn_gate.weight [64, 64] (expected [64, 32])"), std::string::npos) << message;
  EXPECT_NE(message.find("blk.1.ffn_down.weight [64, 64] (expected [32, 64])"), std::string::npos) << message;
}

TEST(Model, ALongListIsCutShort) {
  const std::string message = load_error("llama3-rope", {{"llama.block_count", "int", "512"}});
  EXPECT_NE(message.find(" and 4578 more"), std::string::npos) << message;
  EXPECT_LT(message.size(), 1000u);
}

TEST(Model, ProgressReachesAllBytesAndCanStopTheLoad) {
  LoadOptions options;
  uint64_t last = 0;
  uint64_t total = 0;
  options.progress = [&](uint64_t done, uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
    return true;
  };
  EXPECT_EQ(load_error("llama3-rope", {}, options), "");
  EXPECT_EQ(last, total);
  EXPECT_GT(total, 300000u);
  options.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_NE(load_error("llama3-rope", {}, options), "");
}

TEST(Rope, OverridesReplaceTheFilesValues) {
  gguf::Model file = gguf::Model::open(golden("llama3-rope"));
  const LoadedModel any(golden("llama3-rope"));
  LoadOptions options;
  options.rope.freq_base = 5e5f;
  options.rope.freq_scale = 0.25f;
  options.rope.scaling = static_cast<int32_t>(RopeScaling::linear);
  const auto linear = Model::load(file, *any.device, options);
  EXPECT_FLOAT_EQ(linear->params().rope.freq_base, 5e5f);
  EXPECT_FLOAT_EQ(linear->params().rope.freq_scale, 0.25f);
  EXPECT_FLOAT_EQ(linear->params().rope.attn_factor, 1.0f);
  options.rope.scaling = static_cast<int32_t>(RopeScaling::none);
  EXPECT_FLOAT_EQ(Model::load(file, *any.device, options)->params().rope.freq_scale, 1.0f);
}

TEST(Rope, YarnsMagnitudeIsResolvedOnce) {
  gguf::Model file = gguf::Model::open(golden("llama3-rope"));
  file.metadata().override_with("llama.rope.scaling.type", "str", "yarn");
  file.metadata().override_with("llama.rope.scaling.factor", "float", "4");
  file.metadata().override_with("llama.rope.scaling.original_context_length", "int", "128");
  const LoadedModel any(golden("llama3-rope"));
  const RopeTableParams rope = Model::load(file, *any.device)->params().rope;
  EXPECT_FLOAT_EQ(rope.ext_factor, 1.0f);
  EXPECT_EQ(rope.n_ctx_orig, 128);
  EXPECT_FLOAT_EQ(rope.freq_scale, 0.25f);
  EXPECT_NEAR(rope.attn_factor, 1.1386294f, 1e-6f);  // 0.1 ln 4 + 1
  // Without the mix, the magnitude is what file and user say.
  LoadOptions options;
  options.rope.yarn_ext_factor = 0.0f;
  options.rope.yarn_attn_factor = 0.5f;
  EXPECT_FLOAT_EQ(Model::load(file, *any.device, options)->params().rope.attn_factor, 0.5f);
}

TEST(Architectures, AreFoundByTheirOwnNames) {
  EXPECT_EQ(architectures().size(), 12u);
  for (const Architecture* architecture : architectures()) {
    EXPECT_EQ(find_architecture(architecture->name), architecture);
  }
  EXPECT_EQ(find_architecture("LLAMA"), nullptr);
}

}  // namespace
}  // namespace brisk::model::test
