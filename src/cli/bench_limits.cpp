#include "cli/bench_limits.hpp"

#include "base/error.hpp"
#include "cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace brisk::cli {
namespace {

const cpu::KernelTable& table_of(const Device& device) {
  const auto* cpu = dynamic_cast<const cpu::CpuDevice*>(&device);
  if (cpu == nullptr) fail(ErrorCode::unsupported, "limits are known of the CPU only, not of {}", device.name());
  return cpu->table();
}

/// Sets of nearly the same size share a measurement.
uint64_t rounded(double bytes) {
  const uint64_t step = bytes < 0x1p25 ? uint64_t{1} << 20 : uint64_t{1} << 23;
  return (static_cast<uint64_t>(bytes) / step + 1) * step;
}

/// 1 to n, in powers of two where these are many.
std::vector<int> thread_counts(int n) {
  std::vector<int> out;
  const bool many = n > 8;
  for (int i = 1; i < n; i = many ? 2 * i : i + 1) out.push_back(i);
  out.push_back(n);
  return out;
}

uint64_t cache_bytes(int level) {
  const long size = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
  return size > 0 ? static_cast<uint64_t>(size) : 0;
}

}  // namespace

struct BenchLimits::Line {
  std::string label;
  std::function<double(int)> rate;  ///< in units of 1e9 a second, by threads
};

BenchLimits::BenchLimits(const Device& device) : kernels_(table_of(device).name), limits_(table_of(device).isa) {}

tools::MachinePeaks BenchLimits::peaks(int n_threads, double working_set) {
  return {limits_.dot_ops(n_threads), limits_.fma_ops(n_threads),
          limits_.read_bytes(n_threads, rounded(working_set), true)};
}

std::vector<BenchLimits::Line> BenchLimits::lines(const std::vector<double>& working_sets) {
  std::vector<Line> out = {
      {"int8 dot products, GOPS", [this](int n) { return limits_.dot_ops(n) * 1e-9; }},
      {"fp32 multiply-adds, GFLOPS", [this](int n) { return limits_.fma_ops(n) * 1e-9; }},
  };
  const auto add = [&](const std::string& what, const std::function<uint64_t(int)>& size) {
    for (const bool huge : {true, false}) {
      out.push_back({fmt::format("read {}, {} pages, GB/s", what, huge ? "huge" : "normal"),
                     [this, size, huge](int n) { return limits_.read_bytes(n, size(n), huge) * 1e-9; }});
    }
  };
  const uint64_t l2 = cache_bytes(2);
  const uint64_t l3 = cache_bytes(3);
  if (l2 > 0) add("half of L2", [l2](int n) { return l2 / 2 * static_cast<uint64_t>(n); });
  if (l3 > 0) add(fmt::format("half of L3 ({} MiB)", l3 >> 21), [l3](int) { return l3 / 2; });
  add("memory (1 GiB)", [](int) { return cpu::Limits::kLargestSet; });
  for (const double bytes : working_sets) {
    add(fmt::format("working set of {:.0f} MiB", bytes / 0x1p20), [bytes](int) { return rounded(bytes); });
  }
  return out;
}

std::string BenchLimits::table(int n_threads, const std::vector<double>& working_sets) {
  const std::vector<int> counts = thread_counts(n_threads);
  std::string out = fmt::format("| {:<46} |", fmt::format("limits ({})", kernels_));
  std::string rule = fmt::format("| {:-<46} |", "");
  for (const int n : counts) {
    out += fmt::format(" {:>10} |", fmt::format("{} thread{}", n, n == 1 ? "" : "s"));
    rule += " ---------: |";
  }
  out += "\n" + rule + "\n";
  for (const Line& line : lines(working_sets)) {
    out += fmt::format("| {:<46} |", line.label);
    for (const int n : counts) out += fmt::format(" {:>10.1f} |", line.rate(n));
    out += "\n";
  }
  return out;
}

}  // namespace brisk::cli
