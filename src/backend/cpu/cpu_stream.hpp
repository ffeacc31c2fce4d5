#pragma once

#include <atomic>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "cpu/cpu_buffer.hpp"
#include "cpu/kernels/table.hpp"
#include "cpu/ops/op_task.hpp"
#include "cpu/thread_pool.hpp"

namespace brisk::cpu {

/// Runs plans on a thread pool. Holds the arena of intermediate results and the prepared form of the plans run lately,
/// so that a repeated plan allocates nothing.
class CpuStream : public Stream {
 public:
  CpuStream(std::shared_ptr<ThreadPool> pool, const KernelTable& table);
  ~CpuStream() override;

  void run(const Plan& plan, bool many_tokens) override;
  void read(const Plan& plan, TensorRef tensor, uint64_t offset, std::span<std::byte> out) const override;
  void set_abort(std::function<bool()> should_abort) override { should_abort_ = std::move(should_abort); }

 private:
  struct Step;
  struct Prepared;

  Prepared& prepare(const Plan& plan);
  void begin(Prepared& prepared, int n_threads);
  void execute(Prepared& prepared, int thread);
  void run_alone(std::span<const Step> steps, int thread) noexcept;
  void run_shared(const Step& step, std::atomic<int64_t>& next, int thread) noexcept;
  void run_chunk(OpTask& task, int phase, int64_t chunk, const Scratch& scratch) noexcept;
  [[nodiscard]] Scratch scratch_of(int thread) const;
  void ask_abort() noexcept;
  void store_failure() noexcept;

  std::shared_ptr<ThreadPool> pool_;
  const KernelTable& table_;
  Mapping arena_;
  Mapping shared_;
  Mapping local_;
  uint64_t local_bytes_ = 0;      ///< of one thread
  std::list<Prepared> prepared_;  ///< latest first
  std::function<bool()> should_abort_;
  // Of the current run.
  int n_threads_ = 1;
  std::vector<std::atomic<int64_t>> next_chunk_;  ///< by phase
  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace brisk::cpu
