#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "cpu/kernels/limit_kernels.hpp"
#include "cpu/kernels/table.hpp"
#include "cpu/thread_pool.hpp"

namespace brisk::cpu {

/// The table of an instruction set; may be called only where isa_supported(isa).
[[nodiscard]] const LimitKernels& limit_kernels(Isa isa) noexcept;

/// What this machine can do at most, measured when first asked for (a tenth of a second each) and remembered. Figures
/// are the best of several runs; other programs make them smaller. One thread at a time.
class Limits {
 public:
  /// Working sets above this are measured at this size: they are far beyond every cache.
  static constexpr uint64_t kLargestSet = uint64_t{1} << 30;

  explicit Limits(Isa isa);

  /// Operations a second of int8 dot products, a multiplication with its addition counting as two.
  [[nodiscard]] double dot_ops(int n_threads);
  /// The same of f32 multiply-adds.
  [[nodiscard]] double fma_ops(int n_threads);
  /// Bytes a second when `n_threads` threads read a set of that many bytes again and again, each its own part.
  [[nodiscard]] double read_bytes(int n_threads, uint64_t size, bool huge_pages);

 private:
  template <typename Work>
  double best_rate(int n_threads, double amount, Work work);
  template <typename Work>
  double peak(int n_threads, int ops, Work work);

  const LimitKernels& kernels_;
  std::unique_ptr<ThreadPool> pool_;
  std::map<int, double> dot_, fma_;
  std::map<std::tuple<int, uint64_t, bool>, double> read_;
};

}  // namespace brisk::cpu
