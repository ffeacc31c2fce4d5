#include "cpu/cpu_stream.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"

namespace brisk::cpu {

namespace {

constexpr size_t kPreparedPlans = 16;
constexpr uint64_t kLeastMapping = 1 << 16;

/// Grows in powers of two, so that a growing context asks for memory a few times only.
bool grow(Mapping& mapping, uint64_t size, const char* purpose) {
  if (size <= mapping.size()) return false;
  mapping = Mapping();
  mapping = Mapping(std::bit_ceil(std::max(size, kLeastMapping)), Mapping::Pages::normal, purpose);
  return true;
}

uint64_t align64(uint64_t size) { return (size + 63) / 64 * 64; }

}  // namespace

/// A phase of a task.
struct CpuStream::Step {
  OpTask* task;
  int phase;
  int64_t chunks = 0;  ///< in this run
};

/// A plan with its tasks made.
struct CpuStream::Prepared {
  uint64_t plan_id = 0;
  std::vector<std::unique_ptr<OpTask>> tasks;
  std::vector<Step> steps;
  uint64_t local_bytes = 0;
};

CpuStream::CpuStream(std::shared_ptr<ThreadPool> pool, const KernelTable& table)
    : pool_(std::move(pool)), table_(table) {}

CpuStream::~CpuStream() = default;

CpuStream::Prepared& CpuStream::prepare(const Plan& plan) {
  // Addresses are part of a prepared plan: all go when the arena moves.
  if (grow(arena_, plan.arena_bytes, "intermediate results")) prepared_.clear();
  const auto known = std::ranges::find(prepared_, plan.id, &Prepared::plan_id);
  if (known != prepared_.end() && plan.id != 0) {
    prepared_.splice(prepared_.begin(), prepared_, known);
    return prepared_.front();
  }
  Prepared fresh;
  fresh.plan_id = plan.id;
  const TaskContext context(plan, arena_.data(), table_);
  for (const Node& node : plan.graph.nodes()) {
    const OpRow* row = find_op(node.op);
    if (!row || (row->accepts && !row->accepts(plan.graph, node))) {
      fail(ErrorCode::unsupported, "the CPU cannot run {} of {}", name_of(node.op),
           plan.graph.describe(node.inputs[0]));
    }
    fresh.tasks.push_back(row->make(context, node));
    OpTask& task = *fresh.tasks.back();
    fresh.local_bytes = std::max(fresh.local_bytes, align64(task.local_bytes()));
    for (int phase = 0; phase < task.phases(); ++phase) fresh.steps.push_back({&task, phase});
  }
  std::erase_if(prepared_, [](const Prepared& p) { return p.plan_id == 0; });
  if (prepared_.size() >= kPreparedPlans) prepared_.pop_back();
  prepared_.push_front(std::move(fresh));
  return prepared_.front();
}

void CpuStream::begin(Prepared& prepared, int n_threads) {
  n_threads_ = n_threads;
  uint64_t shared_bytes = 0;
  for (const auto& task : prepared.tasks) {
    task->begin(n_threads);
    shared_bytes = std::max(shared_bytes, task->shared_bytes());
  }
  for (Step& step : prepared.steps) step.chunks = step.task->chunks(step.phase);
  grow(shared_, shared_bytes, "work memory");
  local_bytes_ = std::max(local_bytes_, prepared.local_bytes);
  grow(local_, local_bytes_ * static_cast<uint64_t>(n_threads), "work memory of threads");
  if (next_chunk_.size() < prepared.steps.size())
    next_chunk_ = std::vector<std::atomic<int64_t>>(prepared.steps.size());
  for (size_t i = 0; i < prepared.steps.size(); ++i) next_chunk_[i].store(n_threads, std::memory_order_relaxed);
  stopped_.store(false, std::memory_order_relaxed);
  failure_ = nullptr;
}

Scratch CpuStream::scratch_of(int thread) const {
  return {shared_.data(), local_.data() + static_cast<uint64_t>(thread) * local_bytes_};
}

void CpuStream::store_failure() noexcept {
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = std::current_exception();
  stopped_.store(true, std::memory_order_relaxed);
}

void CpuStream::ask_abort() noexcept {
  try {
    if (should_abort_ && should_abort_()) fail(ErrorCode::cancelled, "the computation was cancelled");
  } catch (...) {
    store_failure();
  }
}

void CpuStream::run_chunk(OpTask& task, int phase, int64_t chunk, const Scratch& scratch) noexcept {
  try {
    task.run(phase, chunk, scratch);
  } catch (...) {
    store_failure();
  }
}

/// Steps of one chunk go to whichever thread reaches the barrier before the next shared step last. Once stopped,
/// threads do no more work but still meet at every barrier: leaving early could strand one that waits.
void CpuStream::execute(Prepared& prepared, int thread) {
  const std::vector<Step>& steps = prepared.steps;
  const auto alone = [](const Step& step) { return step.chunks == 0 || step.chunks == 1; };
  for (size_t i = 0; i < steps.size();) {
    const size_t first = i;
    while (i < steps.size() && alone(steps[i])) ++i;
    pool_->barrier().wait_after([&] { run_alone({steps.begin() + first, steps.begin() + i}, thread); });
    if (thread == 0 && !stopped_.load(std::memory_order_relaxed)) ask_abort();
    if (i == steps.size()) return;
    run_shared(steps[i], next_chunk_[i], thread);
    ++i;
  }
}

void CpuStream::run_alone(std::span<const Step> steps, int thread) noexcept {
  for (const Step& step : steps) {
    if (stopped_.load(std::memory_order_relaxed)) return;
    if (step.chunks == 1) run_chunk(*step.task, step.phase, 0, scratch_of(thread));
  }
}

void CpuStream::run_shared(const Step& step, std::atomic<int64_t>& next, int thread) noexcept {
  const Scratch scratch = scratch_of(thread);
  int64_t n_chunks = step.chunks;
  if (n_chunks == OpTask::kDynamic) {
    if (stopped_.load(std::memory_order_relaxed)) return;  // what the count depends on may be missing
    n_chunks = step.task->dynamic_chunks(step.phase, scratch);
  }
  for (int64_t chunk = thread; chunk < n_chunks; chunk = next.fetch_add(1, std::memory_order_relaxed)) {
    if (stopped_.load(std::memory_order_relaxed)) return;
    run_chunk(*step.task, step.phase, chunk, scratch);
  }
}

void CpuStream::run(const Plan& plan, bool many_tokens) {
  Prepared& prepared = prepare(plan);
  const int n_threads = pool_->n_threads(many_tokens);
  begin(prepared, n_threads);
  pool_->run(n_threads, [&](int thread) { execute(prepared, thread); });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CpuStream::read(const Plan& plan, TensorRef ref, uint64_t offset, std::span<std::byte> out) const {
  const Tensor& tensor = plan.graph.tensor(ref);
  const Tensor& base = tensor.view_of >= 0 ? plan.graph.tensors()[static_cast<size_t>(tensor.view_of)] : tensor;
  const uint64_t inner = tensor.view_of >= 0 ? tensor.offset : 0;
  if (base.buffer) {
    base.buffer->read(base.offset + inner + offset, out);
    return;
  }
  const auto index = static_cast<size_t>(tensor.view_of >= 0 ? tensor.view_of : ref.index);
  const uint64_t size = bytes_of(base.dtype, static_cast<uint64_t>(base.shape.count()));
  BRISK_CHECK(inner + offset <= size && out.size() <= size - inner - offset, "a read stays inside its tensor");
  if (!out.empty()) std::memcpy(out.data(), arena_.data() + plan.offsets[index] + inner + offset, out.size());
}

}  // namespace brisk::cpu
