// How fast text becomes tokens, and how long a vocabulary takes to load.
//
//   brisk_bench_tokenizer [--benchmark_...] VOCABULARY.gguf...
//
// Every text has 10 MB; the goal is 5 MB/s for each of them. "prose" is a few English lines over and over.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gguf/reader.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

namespace bm = benchmark;
using brisk::gguf::Model;
using brisk::tokenizer::Tokenizer;

constexpr size_t kTextSize = 10'000'000;

struct Text {
  const char* name;
  std::string bytes;
};

std::string repeated(std::string_view part) {
  std::string text;
  while (text.size() < kTextSize) text += part;
  return text;
}

std::string random_text(uint32_t range, uint8_t first) {
  std::mt19937 random(1);
  std::string text(kTextSize, '\0');
  for (char& c : text) c = static_cast<char>(first + random() % range);
  return text;
}

std::vector<Text> make_texts() {
  return {
      {"prose", repeated("The baker opened the door at 5 o'clock, as on every day.\nNobody had come yet; \"Well\", she "
                         "said, 'it is early.'\n\n")},
      {"letter", repeated("a")},
      {"space", repeated(" ")},
      {"newline", repeated("\n")},
      {"tab", repeated("\t")},
      {"digit", repeated("7")},
      {"mark", repeated("!")},
      {"han", repeated("中")},
      {"accents", repeated("\u0301\u0323")},
      {"half_special", repeated("<|im_")},
      {"random_bytes", random_text(256, 0)},
      {"random_letters", random_text(26, 'a')},
  };
}

void load(bm::State& state, const Model& model) {
  for ([[maybe_unused]] auto _ : state) bm::DoNotOptimize(Tokenizer::load(model.metadata()));
}

void encode(bm::State& state, const Tokenizer& tokenizer, const std::string& text) {
  size_t n_tokens = 0;
  for ([[maybe_unused]] auto _ : state) {
    n_tokens = tokenizer.encode(text, {.add_special = false, .parse_special = true}).size();
  }
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) * static_cast<int64_t>(state.iterations()));
  state.counters["tokens"] = static_cast<double>(n_tokens);
}

}  // namespace

int main(int argc, char** argv) {
  bm::Initialize(&argc, argv);
  const std::vector<Text> texts = make_texts();
  std::vector<std::unique_ptr<Model>> models;
  std::vector<std::unique_ptr<const Tokenizer>> tokenizers;
  for (int i = 1; i < argc; ++i) {
    const std::string name = std::filesystem::path(argv[i]).stem().string();
    const Model& model = *models.emplace_back(std::make_unique<Model>(Model::open(argv[i])));
    const Tokenizer& tokenizer = *tokenizers.emplace_back(Tokenizer::load(model.metadata()));
    bm::RegisterBenchmark((name + "/load").c_str(), load, std::cref(model))->Unit(bm::kMillisecond);
    for (const Text& text : texts) {
      bm::RegisterBenchmark((name + '/' + text.name).c_str(), encode, std::cref(tokenizer), std::cref(text.bytes))
          ->Unit(bm::kMillisecond);
    }
  }
  bm::RunSpecifiedBenchmarks();
}
