#include "base/error.hpp"
#include "cli/bench_limits.hpp"
#include "cli/bench_results.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_setters.hpp"
#include "cli/program_list.hpp"
#include "cli/simple_commands.hpp"
#include "cli/standard_output.hpp"
#include "cli/terminal.hpp"
#include "cpu/topology.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

namespace brisk::cli {
namespace {

using Setting = BenchSetting;

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

int32_t number(const BenchCombination& values, Setting setting) { return std::stoi(value_of(values, setting)); }

/// What the rest of the program takes, for one combination.
Options options_of(const BenchCommand& command, const BenchCombination& values, const tools::BenchTest& test) {
  Options options;
  options.log.verbosity = command.verbose ? static_cast<int32_t>(Level::info) : static_cast<int32_t>(Level::error);
  options.model = value_of(values, Setting::model);
  options.mmap = value_of(values, Setting::load_mode) != "none";
  options.repack = value_of(values, Setting::repack) != "0";
  options.n_ctx = std::max(1, test.n_prompt + test.n_gen + test.n_depth);
  options.n_batch = number(values, Setting::batch);
  options.n_ubatch = number(values, Setting::ubatch);
  options.type_k = value_of(values, Setting::type_k);
  options.type_v = value_of(values, Setting::type_v);
  options.swa_full = test.n_depth > 0;  // so that the sequence can be cut back to its depth
  options.cpu.n_threads = number(values, Setting::threads);
  options.cpu.n_threads_batch = options.cpu.n_threads;
  OptionValue mask;
  mask.text = value_of(values, Setting::cpu_mask);
  if (mask.text != "0x0") set_cpu_mask(options, mask);
  options.cpu.strict = value_of(values, Setting::cpu_strict) != "0";
  options.cpu.poll = number(values, Setting::poll);
  options.cpu.priority = command.priority;
  return options;
}

bool same_load(const BenchCombination& a, const BenchCombination& b) {
  return std::ranges::all_of(bench_settings(), [&](const BenchSettingRow& row) {
    return !row.at_load || value_of(a, row.setting) == value_of(b, row.setting);
  });
}

std::string stage_text(tools::BenchStage stage, int32_t repetition, int32_t repetitions) {
  using tools::BenchStage;
  switch (stage) {
    case BenchStage::warmup_prompt:
      return "warmup prompt run";
    case BenchStage::warmup_generation:
      return "warmup generation run";
    case BenchStage::depth:
      return fmt::format("depth run {}/{}", repetition, repetitions);
    case BenchStage::depth_kept:
      return fmt::format("depth run {}/{} (cached)", repetition, repetitions);
    case BenchStage::prompt:
      return fmt::format("prompt run {}/{}", repetition, repetitions);
    case BenchStage::generation:
      break;
  }
  return fmt::format("generation run {}/{}", repetition, repetitions);
}

/// Measures every test of every combination and prints the results as they come.
class BenchProgram {
 public:
  BenchProgram(const BenchCommand& command, const ProgramContext& context)
      : command_(command), context_(context), schema_(bench_schema(command)) {}

  int run() {
    const std::vector<BenchCombination> combinations = bench_combinations(command_.lists);
    for (const BenchCombination& values : combinations) {
      n_tests_ += bench_tests(command_, number(values, Setting::depth)).size();
    }
    print([&](const tools::BenchFormat& format) { return format.header(schema_); });
    for (const BenchCombination& values : combinations) {
      for (const tools::BenchTest& test : bench_tests(command_, number(values, Setting::depth))) {
        measure(values, test);
      }
    }
    print([&](const tools::BenchFormat& format) { return format.footer(schema_); });
    if (command_.limits) print_limits();
    return kSuccess;
  }

  /// What was being done when something failed, as llama-bench tells it.
  [[nodiscard]] std::string failed_step() const { return failed_step_; }

 private:
  template <typename Text>
  void print(Text text) const {
    put_output(text(*command_.output));
    fmt::print(stderr, "{}", text(*command_.output_errors));
  }

  void tell(std::string_view what) const {
    const std::string_view name = command_.native ? "bench" : "llama-bench";
    if (command_.progress) fmt::print(stderr, "{}: benchmark {}/{}: {}\n", name, n_begun_, n_tests_, what);
  }

  void load(const BenchCombination& values, const Options& options) {
    if (loaded_ && same_load(values, loaded_values_)) return;
    loaded_.reset();
    failed_step_ = fmt::format("failed to load model '{}'", options.model);
    Log log(options.log, false);
    loaded_ = std::make_unique<LoadedModel>(load_model(options, context_.environment, log));
    loaded_values_ = values;
    model_ = describe(*loaded_);
    if (command_.verbose) fmt::print(stderr, "{}\n", loaded_->model->summary());
  }

  [[nodiscard]] tools::BenchOptions bench_options(const BenchCombination& values) const {
    const auto& vocab = loaded_->tokenizer->vocab();
    tools::BenchOptions how;
    how.repetitions = command_.repetitions;
    how.warmup = command_.warmup;
    how.outputs = value_of(values, Setting::embeddings) == "0";
    if (vocab.add_bos() && vocab.bos() >= 0) how.bos = vocab.bos();
    return how;
  }

  void measure(const BenchCombination& values, const tools::BenchTest& test) {
    ++n_begun_;
    tell("starting");
    const Options options = options_of(command_, values, test);
    load(values, options);
    failed_step_ = fmt::format("failed to create context with model '{}'", options.model);
    model::Runner runner(*loaded_->model, *loaded_->device, runner_options(options, *loaded_, false));
    runner.set_abort([] { return interrupts() > 0; });
    if (command_.delay_s > 0) std::this_thread::sleep_for(std::chrono::seconds(command_.delay_s));
    failed_step_ = "failed to run";
    BenchMeasured measured{.settings = values, .test = test, .time = utc_now(), .samples = {}, .share = {}};
    measured.samples.n_tokens = test.n_tokens();
    measured.samples.ns =
        tools::run_bench(runner, test, bench_options(values), [&](tools::BenchStage stage, int32_t repetition) {
          tell(stage_text(stage, repetition, command_.repetitions));
        });
    if (command_.limits) measured.share = share_of(measured);
    const tools::BenchResult result = bench_result(command_, model_, measured);
    print([&](const tools::BenchFormat& format) { return format.result(schema_, result, n_begun_ == 1); });
  }

  BenchShare share_of(const BenchMeasured& measured) {
    const BenchCombination& values = measured.settings;
    const tools::BenchTest& test = measured.test;
    const auto type = [&](Setting setting) { return *dtype_from_name(value_of(values, setting)); };
    const tools::ModelCost cost =
        tools::cost_of(*loaded_->file, loaded_->model->params(), type(Setting::type_k), type(Setting::type_v));
    if (!limits_) limits_ = std::make_unique<BenchLimits>(*loaded_->device);
    const double working_set = cost.working_set(test.n_depth + test.n_tokens());
    const int n_threads = number(values, Setting::threads);
    const tools::MachinePeaks peaks = limits_->peaks(n_threads, working_set);
    const tools::LeastTime least =
        tools::least_time(cost, test, {number(values, Setting::batch), number(values, Setting::ubatch)}, peaks);
    if (std::ranges::find(working_sets_, working_set) == working_sets_.end()) working_sets_.push_back(working_set);
    return {least.limit, 1e9 * least.seconds / tools::median_of(measured.samples.nanoseconds()), peaks};
  }

  // A table between objects would spoil them, so only md has it on standard output.
  void print_limits() {
    const auto registry = make_registry(context_.environment);
    if (!limits_) limits_ = std::make_unique<BenchLimits>(*registry->first_of(DeviceType::cpu));
    int n_threads = cpu::default_thread_count();
    for (const std::string& value : command_.lists[static_cast<size_t>(Setting::threads)]) {
      n_threads = std::max(n_threads, std::stoi(value));
    }
    const std::string table = fmt::format("\n{}", limits_->table(n_threads, working_sets_));
    command_.output->name == "md" ? put_output(table) : fmt::print(stderr, "{}", table);
  }

  const BenchCommand& command_;
  const ProgramContext& context_;
  tools::BenchSchema schema_;
  size_t n_tests_ = 0;
  size_t n_begun_ = 0;
  std::unique_ptr<LoadedModel> loaded_;
  BenchCombination loaded_values_;
  BenchModel model_;
  std::unique_ptr<BenchLimits> limits_;
  std::vector<double> working_sets_;
  std::string failed_step_ = "failed";
};

/// The command line; nullopt when llama-bench has printed what is wrong with it.
std::optional<BenchCommand> parsed(const ProgramContext& context) {
  try {
    return parse_bench(context.args, context.native);
  } catch (const UsageError& error) {
    if (context.native) throw;
    fmt::print(stderr, "{}", error.what());
    put_output(bench_usage(context.called_as, false));
    return std::nullopt;
  }
}

/// Without -m brisk takes its own default model.
void resolve_default_model(BenchCommand& command, const ProgramContext& context) {
  constexpr auto kIndex = static_cast<size_t>(Setting::model);
  if (context.native && !command.listed[kIndex]) {
    command.lists[kIndex] = {find_model("", context.environment).string()};
  }
}

int measured(const BenchCommand& command, const ProgramContext& context) {
  BenchProgram program(command, context);
  try {
    return program.run();
  } catch (const Error& error) {
    if (context.native || error.code() == ErrorCode::cancelled) throw;
    // Scripts look for the last line; people need the reason.
    fmt::print(stderr, "error: {}\nllama_bench: error: {}\n", error.what(), program.failed_step());
    return kFailure;
  }
}

}  // namespace

int bench_command(const ProgramContext& context) {
  std::optional<BenchCommand> command = parsed(context);
  if (!command) return kFailure;
  if (command->help) {
    put_output(bench_usage(context.called_as, context.native));
  } else if (command->version) {
    context.native ? put_output(version_text()) : fmt::print(stderr, "{}", version_text());
  } else if (command->list_devices) {
    put_output("Available devices:\n  (none)\n");
  } else {
    resolve_default_model(*command, context);
    return measured(*command, context);
  }
  return kSuccess;
}

}  // namespace brisk::cli
