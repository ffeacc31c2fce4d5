#include "cpu/thread_pool.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/error.hpp"
#include "cpu/topology.hpp"

namespace brisk::cpu {
namespace {

ThreadOptions with_threads(int n) {
  ThreadOptions options;
  options.n_threads = n;
  return options;
}

TEST(ThreadPool, RunsEachThreadOnceAndTheCallerIsThreadZero) {
  ThreadPool pool(with_threads(4));
  for (const int n : {1, 4, 2, 4, 3, 8}) {
    std::vector<int> calls(static_cast<size_t>(n), 0);
    std::thread::id zero;
    pool.run(n, [&](int thread) {
      ++calls[static_cast<size_t>(thread)];
      if (thread == 0) zero = std::this_thread::get_id();
    });
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(n), 1));
    EXPECT_EQ(zero, std::this_thread::get_id());
  }
}

/// Many barriers with more threads than processors: ends only if waiting threads let the others work.
TEST(ThreadPool, BarrierKeepsThreadsInStepAlsoWhenThereAreTooMany) {
  for (const int n : {2, 3, 8}) {
    ThreadPool pool(with_threads(n));
    constexpr int kSteps = 500;
    std::vector<int> at(static_cast<size_t>(n) * 16, 0);  // a cache line a thread
    std::atomic<int> wrong{0};
    pool.run(n, [&](int thread) {
      for (int step = 1; step <= kSteps; ++step) {
        at[static_cast<size_t>(thread) * 16] = step;
        pool.barrier().wait();
        for (int other = 0; other < n; ++other) wrong += at[static_cast<size_t>(other) * 16] != step ? 1 : 0;
        pool.barrier().wait();
      }
    });
    EXPECT_EQ(wrong.load(), 0);
    for (int thread = 0; thread < n; ++thread) EXPECT_EQ(at[static_cast<size_t>(thread) * 16], kSteps);
  }
}

TEST(ThreadPool, ManyShortRuns) {
  ThreadPool pool(with_threads(3));
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 2000; ++i) pool.run(1 + i % 3, [&](int thread) { sum += thread + 1; });
  EXPECT_EQ(sum.load(), 667 * 1 + 667 * 3 + 666 * 6);
}

TEST(ThreadPool, SleepingAndPausedWorkersComeBack) {
  ThreadOptions options = with_threads(2);
  options.poll = 0;
  ThreadPool pool(options);
  std::atomic<int> calls{0};
  const auto count = [&](int) { ++calls; };
  pool.run(2, count);
  pool.pause();
  pool.run(2, count);
  pool.resume();
  pool.run(2, count);
  EXPECT_EQ(calls.load(), 6);
}

TEST(ThreadPool, ForEachVisitsAllAndRethrows) {
  ThreadPool pool(with_threads(3));
  std::vector<std::atomic<int>> seen(1000);
  pool.for_each(1000, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
  for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
  EXPECT_THROW(pool.for_each(100,
                             [](int64_t i) {
                               if (i == 57) fail(ErrorCode::io, "no");
                             }),
               Error);
  pool.for_each(0, [](int64_t) { FAIL(); });
}

TEST(ThreadPool, CallsFromSeveralThreadsFollowOneAnother) {
  ThreadPool pool(with_threads(2));
  int inside = 0;  // not atomic: the pool orders the runs
  const auto user = [&] {
    for (int i = 0; i < 100; ++i) {
      pool.run(2, [&](int thread) {
        if (thread == 0) ++inside;
      });
    }
  };
  std::thread other(user);
  user();
  other.join();
  EXPECT_EQ(inside, 200);
}

TEST(ThreadPool, MaskBindsThreadsAndMustNameAUsableProcessor) {
  const std::vector<int> allowed = allowed_processors();
  ThreadOptions options = with_threads(2);
  options.cpu_mask.assign(static_cast<size_t>(allowed.back()) + 1, false);
  EXPECT_THROW(ThreadPool{options}, Error);
  options.cpu_mask[static_cast<size_t>(allowed.back())] = true;
  options.strict = true;
  std::vector<int> ran_on(2, -1);
  // From a thread of its own: the caller is bound too.
  std::thread caller([&] {
    ThreadPool pool(options);
    pool.run(2, [&](int thread) { ran_on[static_cast<size_t>(thread)] = sched_getcpu(); });
  });
  caller.join();
  EXPECT_EQ(ran_on, std::vector<int>(2, allowed.back()));
}

TEST(ThreadPool, CountsForDecodeAndPrompt) {
  ThreadOptions options = with_threads(3);
  EXPECT_EQ(ThreadPool(options).n_threads(true), 3);
  options.n_threads_batch = 5;
  EXPECT_EQ(ThreadPool(options).n_threads(true), 5);
  EXPECT_EQ(ThreadPool(options).n_threads(false), 3);
  EXPECT_GE(ThreadPool({}).n_threads(false), 1);
}

/// A folder that stands for the root of a file system.
class FakeRoot {
 public:
  FakeRoot() : path_(std::filesystem::path(testing::TempDir()) / ("brisk_root_" + std::to_string(getpid()))) {}
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Topology, QuotaIsTheLeastOfTheGroupsAbove) {
  const FakeRoot root;
  EXPECT_EQ(cgroup_quota(root.path()), std::nullopt);
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_quota(root.path()), std::nullopt);
  root.write("sys/fs/cgroup/a/cpu.max", "350000 100000\n");
  root.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_quota(root.path()), 3.5);
}

TEST(Topology, QuotaOfTheFirstVersion) {
  const FakeRoot root;
  root.write("proc/self/cgroup", "3:cpu,cpuacct:/x\n");
  root.write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "200000\n");
  root.write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_quota(root.path()), 2.0);
  root.write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cgroup_quota(root.path()), std::nullopt);
}

TEST(Topology, SiblingsCountOnce) {
  const FakeRoot root;
  for (int i = 0; i < 8; ++i) {
    const int first = i % 4;
    root.write("sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list",
               std::to_string(first) + "," + std::to_string(first + 4) + "\n");
  }
  EXPECT_EQ(physical_cores({0, 1, 2, 3, 4, 5, 6, 7}, root.path()), 4);
  EXPECT_EQ(physical_cores({1, 5}, root.path()), 1);
  EXPECT_EQ(physical_cores({20, 21}, root.path()), 2);  // nothing known: each for itself
}

}  // namespace
}  // namespace brisk::cpu
