#include "loaded_model.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cpu/cpu_backend.hpp"
#include "cpu/cpu_features.hpp"

namespace brisk::model::test {

namespace {

std::unique_ptr<Backend> backend_for(std::string_view isa) {
  CpuOptions options;
  if (!isa.empty()) options.isa = cpu::isa_from_name(isa);
  return make_cpu_backend(options);
}

}  // namespace

LoadedModel::LoadedModel(const std::filesystem::path& path, std::string_view isa, bool repack)
    : file(gguf::Model::open(path)), backend(backend_for(isa)), device(backend->devices()[0]) {
  LoadOptions options;
  options.repack = repack;
  model = Model::load(file, *device, options);
}

RunnerOptions exact_options(int32_t n_seq_max) {
  RunnerOptions options;
  options.n_ctx = 256;
  options.n_seq_max = n_seq_max;
  options.type_k = options.type_v = DType::f32;
  options.threads.n_threads = 1;
  return options;
}

std::vector<float> logits_of(Runner& runner, SequenceId id, std::span<const int32_t> tokens,
                             std::span<const int32_t> chunks) {
  std::vector<float> all;
  size_t done = 0;
  Batch batch;
  for (size_t chunk = 0; done < tokens.size(); ++chunk) {
    const int32_t wanted = chunks[std::min(chunk, chunks.size() - 1)];
    const size_t n = std::min(static_cast<size_t>(wanted), tokens.size() - done);
    batch.clear();
    for (size_t i = 0; i < n; ++i) {
      batch.add(tokens[done + i], runner.kv().pos_max(id) + 1 + static_cast<int32_t>(i), id, true);
    }
    if (!runner.decode(batch).ok()) throw std::runtime_error("context full");
    for (size_t i = 0; i < n; ++i) {
      const auto row = runner.logits(i);
      all.insert(all.end(), row.begin(), row.end());
    }
    done += n;
  }
  return all;
}

std::vector<float> logits_of(Runner& runner, SequenceId id, std::span<const int32_t> tokens) {
  const int32_t whole[] = {static_cast<int32_t>(tokens.size())};
  return logits_of(runner, id, tokens, whole);
}

int32_t argmax(std::span<const float> row) { return static_cast<int32_t>(std::ranges::max_element(row) - row.begin()); }

float max_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<float>::infinity();
  float most = 0.0f;
  for (size_t i = 0; i < a.size(); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    if (!std::isfinite(difference)) return std::numeric_limits<float>::infinity();
    most = std::max(most, difference);
  }
  return most;
}

double rms_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - double{b[i]}, 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<Tokens> read_sequences(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in).at("sequences").get<std::vector<Tokens>>();
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const char* name : {"scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni"}) {
    if (cpu::isa_supported(*cpu::isa_from_name(name))) names.emplace_back(name);
  }
  return names;
}

}  // namespace brisk::model::test
