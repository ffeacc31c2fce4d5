#include "cpu/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "cpu/topology.hpp"

namespace brisk::cpu {

namespace {

// About 4 us, the wait between chunks of equal length. Longer spins hurt on a busy machine, where the awaited thread
// may want this very core: two threads beside eight other processes took 145 us a barrier with 3000 pauses, 5 us with
// 100.
constexpr int kSpins = 100;
constexpr int kYieldsPerPollLevel = 4;
constexpr int kYieldsWhenCrowded = 8;
// Twice the processors of the largest machines; tens of thousands exhaust the process limit half-way.
constexpr int kMaxThreads = 2048;

std::vector<int> usable(const ThreadOptions& options) {
  std::vector<int> all = allowed_processors();
  if (options.cpu_mask.empty()) return all;
  std::erase_if(all, [&](int i) {
    return static_cast<size_t>(i) >= options.cpu_mask.size() || !options.cpu_mask[static_cast<size_t>(i)];
  });
  if (all.empty()) fail(ErrorCode::invalid_argument, "the CPU mask names no processor that this process may use");
  return all;
}

void bind_thread(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int i : processors) {
    if (i < CPU_SETSIZE) CPU_SET(i, &set);
  }
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/// Best effort: without the right to it the thread keeps its priority.
void set_priority(int level) {
  if (level == 3) {
    sched_param param{};
    param.sched_priority = 50;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0) return;
  }
  constexpr int kNice[] = {10, 0, -5, -10, -15};
  const int nice = kNice[std::clamp(level, -1, 3) + 1];
  if (nice != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), nice);
}

}  // namespace

ThreadPool::ThreadPool(const ThreadOptions& options) : options_(options), processors_(usable(options)) {
  const int wanted = std::min(default_thread_count(), static_cast<int>(processors_.size()));
  n_decode_ = options.n_threads > 0 ? options.n_threads : wanted;
  n_batch_ = options.n_threads_batch > 0 ? options.n_threads_batch : n_decode_;
  if (std::max(n_decode_, n_batch_) > kMaxThreads) {
    fail(ErrorCode::invalid_argument, "{} threads are more than the {} that one pool may have; lower --threads",
         std::max(n_decode_, n_batch_), kMaxThreads);
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  start_.change();
  for (std::thread& worker : workers_) worker.join();
}

Patience ThreadPool::patience(int n_threads) const noexcept {
  if (options_.poll <= 0) return {};
  // More threads than processors: whoever spins holds the core that another needs.
  if (n_threads > static_cast<int>(processors_.size())) return {0, kYieldsWhenCrowded};
  return {kSpins, options_.poll * kYieldsPerPollLevel};
}

void ThreadPool::start_workers(int n_threads) {
  while (static_cast<int>(workers_.size()) + 1 < n_threads) {
    const int index = static_cast<int>(workers_.size()) + 1;
    // The value must be taken here: the new thread may first run after the next change.
    const uint32_t seen = start_.value();
    auto worker = [this, index, seen] {
      if (!options_.cpu_mask.empty() || options_.strict) {
        const auto i = static_cast<size_t>(index) % processors_.size();
        bind_thread(options_.strict ? std::vector<int>{processors_[i]} : processors_);
      }
      if (options_.priority != 0) set_priority(options_.priority);
      uint32_t start = seen;
      Patience patience = idle_patience_;
      while (true) {
        const bool paused = paused_.load(std::memory_order_relaxed);
        start_.wait_change(start, paused ? Patience{} : patience, crowding_);
        if (stop_) return;
        start = start_.value();
        patience = idle_patience_;
        work(index);
      }
    };
    try {
      workers_.emplace_back(std::move(worker));
    } catch (const std::system_error& error) {
      fail(ErrorCode::out_of_memory, "cannot start thread {} of {}: {}; lower --threads", index + 1, n_threads,
           error.code().message());
    }
  }
}

void ThreadPool::work(int index) {
  if (index < active_) (*fn_)(index);
  // Idle workers report too: run() may then change the job.
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.change();
}

void ThreadPool::bind_caller() {
  if ((options_.cpu_mask.empty() && !options_.strict) || bound_caller_ == std::this_thread::get_id()) return;
  bind_thread(options_.strict ? std::vector<int>{processors_[0]} : processors_);
  bound_caller_ = std::this_thread::get_id();
}

void ThreadPool::run(int n_threads, const std::function<void(int)>& fn) {
  BRISK_CHECK(n_threads >= 1, "a pool runs on at least one thread");
  const std::lock_guard lock(run_mutex_);
  bind_caller();
  barrier_.reset(n_threads, patience(n_threads));
  if (n_threads == 1) {
    fn(0);
    return;
  }
  idle_patience_ = patience(std::max(n_threads, static_cast<int>(workers_.size()) + 1));
  start_workers(n_threads);
  fn_ = &fn;
  active_ = n_threads;
  const uint32_t done = done_.value();
  running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  start_.change();
  fn(0);
  done_.wait_change(done, patience(n_threads), crowding_);
}

void ThreadPool::for_each(int64_t n, const std::function<void(int64_t)>& fn) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  const auto job = [&](int) {
    for (int64_t i = next.fetch_add(1); i < n && !failed.load(); i = next.fetch_add(1)) {
      try {
        fn(i);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  };
  run(static_cast<int>(std::clamp<int64_t>(n, 1, n_decode_)), job);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace brisk::cpu
