#include "tools/bench.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/rng.hpp"

namespace brisk::tools {

namespace {

class Bench {
 public:
  Bench(model::Runner& runner, const BenchTest& test, const BenchOptions& options, const BenchProgress& progress)
      : runner_(runner), test_(test), options_(options), progress_(progress) {}

  void warm_up() {
    if (test_.n_prompt > 0) tell(BenchStage::warmup_prompt, 0);
    prompt(test_.n_prompt);
    if (test_.n_gen > 0) tell(BenchStage::warmup_generation, 0);
    generate(std::min(test_.n_gen, 1));
    runner_.kv().clear(0);
  }

  int64_t repetition(int32_t number) {
    go_to_depth(number);
    const auto start = std::chrono::steady_clock::now();
    if (test_.n_prompt > 0) tell(BenchStage::prompt, number);
    prompt(test_.n_prompt);
    if (test_.n_gen > 0) tell(BenchStage::generation, number);
    generate(test_.n_gen);
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }

 private:
  void tell(BenchStage stage, int32_t number) const {
    if (progress_) progress_(stage, number);
  }

  int32_t random_token() {
    return static_cast<int32_t>(random_.next() % static_cast<uint32_t>(runner_.model().params().n_vocab));
  }

  void decode(int32_t n, bool first_of_prompt) {
    const int32_t position = runner_.kv().size(0);
    batch_.clear();
    for (int32_t i = 0; i < n; ++i) {
      const bool bos = i == 0 && first_of_prompt && options_.bos;
      batch_.add(bos ? *options_.bos : random_token(), position + i, 0, options_.outputs && i + 1 == n);
    }
    const model::DecodeResult result = runner_.decode(batch_);
    if (!result.ok()) fail(ErrorCode::context_full, "the test does not fit the context; {} tokens are in it", position);
  }

  void prompt(int32_t n) {
    const int32_t most = runner_.options().n_batch;
    for (int32_t done = 0; done < n; done += most) decode(std::min(most, n - done), done == 0);
  }

  void generate(int32_t n) {
    for (int32_t i = 0; i < n; ++i) decode(1, i == 0 && runner_.kv().size(0) == 0);
  }

  void go_to_depth(int32_t number) {
    model::KvCache& kv = runner_.kv();
    const bool kept = number > 1 && test_.n_depth > 0 && kv.can_continue_at(0, test_.n_depth);
    if (test_.n_depth > 0) tell(kept ? BenchStage::depth_kept : BenchStage::depth, number);
    if (kept) {
      kv.truncate(0, test_.n_depth);
      return;
    }
    kv.clear(0);
    prompt(test_.n_depth);
  }

  model::Runner& runner_;
  const BenchTest& test_;
  const BenchOptions& options_;
  const BenchProgress& progress_;
  model::Batch batch_;
  Rng random_{1};
};

}  // namespace

std::vector<int64_t> run_bench(model::Runner& runner, const BenchTest& test, const BenchOptions& options,
                               const BenchProgress& progress) {
  Bench bench(runner, test, options, progress);
  std::vector<int64_t> ns;
  runner.kv().clear(0);
  if (options.warmup) bench.warm_up();
  for (int32_t i = 1; i <= options.repetitions; ++i) ns.push_back(bench.repetition(i));
  runner.kv().clear(0);
  return ns;
}

}  // namespace brisk::tools
