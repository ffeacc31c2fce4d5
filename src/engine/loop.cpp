#include "engine/loop.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace brisk::engine {

namespace {

std::vector<int32_t> eog_tokens_of(const tokenizer::Tokenizer& tokenizer) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < tokenizer.vocab().n_tokens(); ++id) {
    if (tokenizer.vocab().is_eog(id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace

Engine::Loop::Loop(const model::Model& model, const tokenizer::Tokenizer& tokenizer, Device& device,
                   const model::RunnerOptions& options)
    : runner_(model, device, options), eog_tokens_(eog_tokens_of(tokenizer)) {
  slots_.reserve(static_cast<size_t>(options.n_seq_max));
  for (int32_t i = 0; i < options.n_seq_max; ++i) slots_.emplace_back(i, runner_, tokenizer, eog_tokens_);
  runner_.set_abort([this] { return should_abort(); });
  thread_ = std::thread([this] { work(); });
}

Engine::Loop::~Loop() {
  stopping_ = true;
  {
    // Taken so that the thread is either before its check of stopping_ or already waiting.
    const std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
  thread_.join();
}

RequestId Engine::Loop::submit(Request request, EventSink& sink) {
  const std::lock_guard lock(mutex_);
  const RequestId id = ++last_id_;
  auto job = std::make_shared<Job>(id, std::move(request), &sink);
  jobs_[id] = job;
  queue_.push_back(std::move(job));
  changed_.notify_all();
  return id;
}

void Engine::Loop::cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  if (const auto job = found->second.lock()) job->cancelled = true;
  changed_.notify_all();
}

void Engine::Loop::work() {
  while (wait_for_work()) {
    assign();
    drop_cancelled();
    step();
  }
  for (Slot& slot : slots_) {
    if (slot.busy()) slot.finish(FinishReason::cancelled);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& job : queue_) job->sink->on_finish({FinishReason::cancelled, {}, {}, {}, 0});
  queue_.clear();
}

/// False when the engine is stopping.
bool Engine::Loop::wait_for_work() {
  std::unique_lock lock(mutex_);
  std::erase_if(jobs_, [](const auto& entry) { return entry.second.expired(); });
  const bool busy = std::ranges::any_of(slots_, &Slot::busy);
  changed_.wait(lock, [&] { return stopping_ || busy || !queue_.empty(); });
  return !stopping_;
}

/// Gives each waiting request the free slot that knows most of its prompt.
void Engine::Loop::assign() {
  while (true) {
    std::shared_ptr<Job> job;
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty() || std::ranges::all_of(slots_, &Slot::busy)) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    Slot* best = nullptr;
    size_t most = 0;
    for (Slot& slot : slots_) {
      if (slot.busy()) continue;
      const size_t known = slot.reusable(job->request.prompt);
      if (best == nullptr || known > most) {
        best = &slot;
        most = known;
      }
    }
    best->begin(std::move(job));
  }
}

void Engine::Loop::drop_cancelled() {
  for (Slot& slot : slots_) {
    if (slot.busy() && slot.job()->cancelled) slot.finish(FinishReason::cancelled);
  }
  std::vector<std::shared_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    const auto waiting = std::ranges::stable_partition(queue_, [](const auto& job) { return !job->cancelled; });
    dropped.assign(waiting.begin(), waiting.end());
    queue_.erase(waiting.begin(), waiting.end());
  }
  for (const auto& job : dropped) job->sink->on_finish({FinishReason::cancelled, {}, {}, {}, 0});
}

void Engine::Loop::step() {
  batch_.clear();
  // One graph run a step keeps waiting short for those that are cancelled or come new.
  auto budget = static_cast<size_t>(std::min(runner_.options().n_ubatch, runner_.options().n_batch));
  std::vector<Slot*> taking_part;
  // Running answers first (one token each), so that no long prompt holds them up.
  for (const bool answering : {true, false}) {
    for (Slot& slot : slots_) {
      if (!slot.busy() || slot.answering() != answering || budget == 0) continue;
      budget -= slot.add_to(batch_, budget);
      taking_part.push_back(&slot);
    }
  }
  if (taking_part.empty()) return;
  try {
    const model::DecodeResult result = runner_.decode(batch_);
    if (!result.ok()) {
      for (Slot* slot : taking_part) slot->resync();
      slots_[static_cast<size_t>(result.sequence)].finish(
          FinishReason::context_full, "no room in the KV cache; raise --ctx-size or lower --parallel");
      return;
    }
    for (Slot* slot : taking_part) slot->advance();
  } catch (const Error& error) {
    for (Slot* slot : taking_part) slot->resync();
    if (error.code() != ErrorCode::cancelled) fail_all(error.what());
  } catch (const std::exception& error) {  // no memory, or a bug: the requests end, the engine does not
    for (Slot* slot : taking_part) slot->resync();
    fail_all(error.what());
  }
}

void Engine::Loop::fail_all(const char* why) {
  for (Slot& slot : slots_) {
    if (slot.busy()) slot.finish(FinishReason::failed, why);
  }
}

bool Engine::Loop::should_abort() const {
  if (stopping_) return true;
  return std::ranges::all_of(slots_, [](const Slot& slot) { return !slot.busy() || slot.job()->cancelled; });
}

}  // namespace brisk::engine
