#include "cli/loaded_model.hpp"

#include "base/error.hpp"
#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"
#include "cpu/cpu_backend.hpp"
#include "cpu/cpu_features.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace brisk::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultModel = "SmolLM2-135M-Instruct.Q4_1.gguf";

std::optional<fs::path> model_folder(const Environment& environment) {
  if (const auto folder = environment("BRISK_MODELS"); folder && !folder->empty()) return *folder;
  if (const auto cache = environment("XDG_CACHE_HOME"); cache && !cache->empty())
    return fs::path(*cache) / "brisk/models";
  if (const auto home = environment("HOME"); home && !home->empty()) return fs::path(*home) / ".cache/brisk/models";
  return std::nullopt;
}

DType cache_type(const std::string& name) {
  if (name == "f32") return DType::f32;
  if (name == "f16") return DType::f16;
  fail(ErrorCode::unsupported, "cache type '{}' is not supported yet; there are f32 and f16", name);
}

int thread_count(int32_t wanted) {
  if (wanted == kUnset) return 0;
  return wanted > 0 ? wanted : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

std::unique_ptr<Registry> make_registry(const Environment& environment) {
  brisk::CpuOptions cpu;
  if (const auto isa = environment("BRISK_CPU"); isa && !isa->empty()) {
    cpu.isa = cpu::isa_from_name(*isa);
    if (!cpu.isa) {
      throw UsageError(
          ErrorCode::invalid_argument,
          fmt::format("error: BRISK_CPU={} is no instruction set of brisk; there are scalar, avx2, avx2_vnni, avx512, "
                      "avx512_vnni\n",
                      *isa));
    }
  }
  auto registry = std::make_unique<Registry>();
  registry->add(make_cpu_backend(cpu));
  return registry;
}

std::string LoadedModel::chat_template() const {
  return std::string(file->metadata().get_string("tokenizer.chat_template").value_or(""));
}

fs::path find_model(const std::string& argument, const Environment& environment) {
  const auto folder = model_folder(environment);
  if (argument.empty()) {
    if (folder && fs::exists(*folder / kDefaultModel)) return *folder / kDefaultModel;
    fail(ErrorCode::not_found,
         "no model: give one with -m FILE, or run scripts/quickstart once, which fetches {} into {}", kDefaultModel,
         folder ? folder->string() : "the model folder");
  }
  if (fs::exists(argument) || !folder) return argument;
  const bool plain_name = argument.find('/') == std::string::npos;
  if (plain_name && fs::exists(*folder / argument)) return *folder / argument;
  return argument;
}

std::unique_ptr<gguf::Model> open_model_file(const Options& options, const Environment& environment) {
  gguf::OpenOptions how;
  how.mode = options.mmap ? FileBytes::Mode::map : FileBytes::Mode::read;
  auto file = std::make_unique<gguf::Model>(gguf::Model::open(find_model(options.model, environment), how));
  try {
    for (const auto& item : options.overrides) file->metadata().override_with(item.key, item.type, item.text);
  } catch (const Error& error) {
    throw UsageError(error.code(), fmt::format("error: {}\n", error.what()));
  }
  return file;
}

LoadedModel load_model(const Options& options, const Environment& environment, Log& log) {
  const auto start = std::chrono::steady_clock::now();
  LoadedModel loaded;
  loaded.registry = make_registry(environment);
  loaded.device = loaded.registry->first_of(DeviceType::cpu);
  BRISK_CHECK(loaded.device != nullptr, "the CPU is always there");
  loaded.file = open_model_file(options, environment);
  loaded.tokenizer = tokenizer::Tokenizer::load(loaded.file->metadata());
  for (const auto& warning : loaded.tokenizer->vocab().warnings()) log.warn("load: {}", warning);

  ProgressBar bar("loading", log.enabled(Level::info));
  model::LoadOptions how;
  how.repack = options.repack;
  how.rope = options.rope;
  how.progress = [&](uint64_t done, uint64_t total) {
    bar.update(total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
    return interrupts() == 0;
  };
  loaded.model = model::Model::load(*loaded.file, *loaded.device, how);
  bar.finish();
  loaded.load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return loaded;
}

model::RunnerOptions runner_options(const Options& options, const LoadedModel& loaded, bool pad_context) {
  model::RunnerOptions runner;
  runner.n_ctx = options.n_ctx > 0 ? options.n_ctx : loaded.model->params().n_ctx_train;
  constexpr int32_t kPad = 256;
  if (pad_context && runner.n_ctx <= INT32_MAX - kPad) runner.n_ctx = (runner.n_ctx + kPad - 1) / kPad * kPad;
  runner.n_batch = options.n_batch;
  runner.n_ubatch = options.n_ubatch == 0 ? options.n_batch : std::min(options.n_ubatch, options.n_batch);
  runner.type_k = cache_type(options.type_k);
  runner.type_v = cache_type(options.type_v);
  runner.keep_windows = options.swa_full;
  runner.threads.n_threads = thread_count(options.cpu.n_threads);
  runner.threads.n_threads_batch = thread_count(options.cpu.n_threads_batch);
  runner.threads.cpu_mask = options.cpu.mask;
  runner.threads.strict = options.cpu.strict;
  runner.threads.priority = options.cpu.priority;
  runner.threads.poll = options.cpu.poll;
  return runner;
}

}  // namespace brisk::cli
