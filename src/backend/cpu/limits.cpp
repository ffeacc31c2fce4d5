#include "cpu/limits.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "cpu/cpu_buffer.hpp"

namespace brisk::cpu {

namespace {

constexpr int kRuns = 7;
// Long enough that starting the threads does not count.
constexpr double kLeastSeconds = 0.01;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What results go to, so that computing them is not in vain.
std::atomic<uint64_t> seen{0};

}  // namespace

const LimitKernels& limit_kernels(Isa isa) noexcept {
  switch (isa) {
#ifdef BRISK_CPU_X86
    case Isa::avx2:
      return avx2::kLimitKernels;
    case Isa::avx2_vnni:
      return avx2_vnni::kLimitKernels;
    case Isa::avx512:
      return avx512::kLimitKernels;
    case Isa::avx512_vnni:
      return avx512_vnni::kLimitKernels;
#endif
    default:
      return scalar::kLimitKernels;
  }
}

Limits::Limits(Isa isa) : kernels_(limit_kernels(isa)), pool_(std::make_unique<ThreadPool>(ThreadOptions{})) {}

/// Best rate of several runs of work(thread), which all threads together do `amount` in. The first one only warms up.
template <typename Work>
double Limits::best_rate(int n_threads, double amount, Work work) {
  double best = 0;
  for (int i = 0; i <= kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    pool_->run(n_threads, work);
    if (i > 0) best = std::max(best, amount / seconds_since(start));
  }
  return best;
}

template <typename Work>
double Limits::peak(int n_threads, int ops, Work work) {
  const auto start = std::chrono::steady_clock::now();
  constexpr uint64_t kTrial = 100'000;
  work(kTrial);
  const auto rounds = static_cast<uint64_t>(kLeastSeconds / seconds_since(start) * kTrial) + kTrial;
  return best_rate(n_threads, static_cast<double>(rounds) * ops * n_threads, [&](int) { work(rounds); });
}

double Limits::dot_ops(int n_threads) {
  double& rate = dot_[n_threads];
  if (rate == 0) rate = peak(n_threads, kernels_.dot_ops, [&](uint64_t rounds) { seen += kernels_.dot(rounds); });
  return rate;
}

double Limits::fma_ops(int n_threads) {
  const auto work = [&](uint64_t rounds) { seen += kernels_.fma(rounds) > 0 ? 1 : 0; };
  double& rate = fma_[n_threads];
  if (rate == 0) rate = peak(n_threads, kernels_.fma_ops, work);
  return rate;
}

double Limits::read_bytes(int n_threads, uint64_t size, bool huge_pages) {
  constexpr uint64_t kStep = 1024;
  const auto n = static_cast<uint64_t>(n_threads);
  const uint64_t part = std::max(std::min(size, kLargestSet) / n / kStep, uint64_t{1}) * kStep;
  double& rate = read_[{n_threads, part, huge_pages}];
  if (rate != 0) return rate;
  const Mapping set(part * n, huge_pages ? Mapping::Pages::huge : Mapping::Pages::normal, "measuring bandwidth");
  const auto part_of = [&](int thread) { return set.data() + part * static_cast<uint64_t>(thread); };
  pool_->run(n_threads, [&](int thread) { std::memset(part_of(thread), 1, part); });
  constexpr uint64_t kLeastBytes = uint64_t{64} << 20;
  const uint64_t passes = kLeastBytes / part + 1;
  rate = best_rate(n_threads, static_cast<double>(part * n * passes), [&](int thread) {
    for (uint64_t pass = 0; pass < passes; ++pass) seen += kernels_.read(part_of(thread), part);
  });
  return rate;
}

}  // namespace brisk::cpu
