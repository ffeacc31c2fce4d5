#include "test_support/gguf_builder.hpp"

namespace brisk::test {

namespace {

void pad(std::string& bytes, uint64_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

std::string info(const GgufBuilder::Tensor& tensor, uint64_t offset) {
  std::string out = le(tensor.name_length.value_or(tensor.name.size())) + tensor.name;
  out += le(tensor.n_dims.value_or(static_cast<uint32_t>(tensor.dims.size())));
  for (const int64_t dim : tensor.dims) out += le(dim);
  return out + le(tensor.type) + le(tensor.offset.value_or(offset));
}

/// Bytes that look like weights, without a random source: the same in every run.
std::string patterned(size_t size) {
  std::string out(size, '\0');
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 37 + i / 256);
  return out;
}

}  // namespace

GgufBuilder& GgufBuilder::raw(std::string key, uint32_t type, std::string value) {
  pairs.push_back({std::move(key), type, std::move(value)});
  return *this;
}

GgufBuilder& GgufBuilder::strings(std::string key, const std::vector<std::string>& values) {
  std::string bytes = le<uint32_t>(kStr) + le<uint64_t>(values.size());
  for (const std::string& value : values) bytes += sized(value);
  return raw(std::move(key), kArr, bytes);
}

GgufBuilder& GgufBuilder::tensor(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return *this;
}

GgufBuilder& GgufBuilder::f32_tensor(std::string name, std::vector<int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::string data;
  for (int64_t i = 0; i < count; ++i) data += le(static_cast<float>(i));
  return tensor({std::move(name), std::move(dims), 0, std::move(data)});
}

std::string GgufBuilder::build() const {
  std::string out = magic + le(version) + le(n_tensors.value_or(tensors.size())) + le(n_pairs.value_or(pairs.size()));
  for (const Pair& pair : pairs) {
    out += le(pair.key_length.value_or(pair.key.size())) + pair.key + le(pair.type) + pair.value;
  }
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    out += info(tensor, offset);
    offset += (tensor.data.size() + alignment - 1) / alignment * alignment;
  }
  if (!tensors.empty() && pad_header) pad(out, alignment);
  std::string data;
  for (const Tensor& tensor : tensors) {
    data += tensor.data;
    pad(data, alignment);
  }
  return out + data;
}

GgufBuilder small_valid_gguf() {
  GgufBuilder file;
  file.str("general.architecture", "llama").str("general.name", "tiny").u32("general.alignment", 32);
  file.raw("x.u8", kU8, le<uint8_t>(200)).raw("x.i8", kI8, le<int8_t>(-5)).u16("x.u16", 60000);
  file.raw("x.i16", kI16, le<int16_t>(-300)).i32("x.i32", -70000).f32("x.f32", 0.5f).boolean("x.bool", true);
  file.raw("x.u64", kU64, le<uint64_t>(uint64_t{1} << 40)).raw("x.i64", kI64, le<int64_t>(-(int64_t{1} << 40)));
  file.raw("x.f64", kF64, le(0.25));
  std::vector<std::string> tokens;
  for (int i = 0; i < 64; ++i) tokens.push_back("token-" + std::to_string(i));
  file.strings("tokenizer.ggml.tokens", tokens);
  file.numbers<float>("tokenizer.ggml.scores", kF32, std::vector<float>(64, -1.0f));
  file.numbers<int32_t>("tokenizer.ggml.token_type", kI32, std::vector<int32_t>(64, 1));
  file.f32_tensor("token_embd.weight", {32, 8}).f32_tensor("output_norm.weight", {32});
  file.tensor({"blk.0.attn_q.weight", {32, 16}, 2, patterned(16 * 18)});   // q4_0
  file.tensor({"blk.0.ffn_up.weight", {256, 4}, 12, patterned(4 * 144)});  // q4_K
  file.tensor({"blk.0.ffn_down.weight", {64, 8}, 8, patterned(16 * 34)});  // q8_0
  file.tensor({"blk.0.ffn_gate_exps.weight", {32, 2, 3}, 1, patterned(32 * 6 * 2)});
  return file;
}

}  // namespace brisk::test
