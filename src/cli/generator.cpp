#include "cli/generator.hpp"

#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <variant>

namespace brisk::cli {
namespace {

struct PromptEvent {
  int32_t done;
  int32_t total;
};

using Event = std::variant<PromptEvent, engine::TokenEvent, engine::FinishEvent>;

// Hands events from the engine's thread to the one that prints.
class EventQueue final : public engine::EventSink {
 public:
  void on_prompt(int32_t done, int32_t total) override { push(PromptEvent{done, total}); }
  void on_token(const engine::TokenEvent& event) override { push(event); }
  void on_finish(const engine::FinishEvent& event) override { push(event); }

  // nullopt when nothing came in time.
  std::optional<Event> pop(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    if (!ready_.wait_for(lock, patience, [this] { return !events_.empty(); })) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  // Notifies under the lock: after the last event the reader may destroy the queue as soon as it can lock.
  void push(Event event) {
    const std::scoped_lock lock(mutex_);
    events_.push_back(std::move(event));
    ready_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Event> events_;
};

// Prompts that are computed in one go need no bar.
constexpr int32_t kLongPrompt = 1024;

}  // namespace

Generator::Generator(const LoadedModel& loaded, const model::RunnerOptions& options)
    : engine_(*loaded.model, *loaded.tokenizer, *loaded.device, options) {}

Generation Generator::run(engine::Request request, const std::function<void(std::string_view)>& on_text) {
  Generation result;
  EventQueue queue;
  ProgressBar bar("prompt", request.prompt.size() >= kLongPrompt);
  const engine::RequestId id = engine_.submit(std::move(request), queue);
  bool cancelled = false;
  const auto take_text = [&](const std::string& text) {
    if (text.empty()) return;
    result.text += text;
    on_text(text);
  };
  // An interrupt is a flag set by a signal handler, so it is looked at from time to time: 20 ms is below what a person
  // notices.
  constexpr std::chrono::milliseconds kPatience(20);
  while (true) {
    if (interrupts() > 0 && !cancelled) {
      engine_.cancel(id);
      cancelled = true;
    }
    auto event = queue.pop(kPatience);
    if (!event) continue;
    if (const auto* prompt = std::get_if<PromptEvent>(&*event)) {
      if (prompt->done < prompt->total) bar.update(static_cast<double>(prompt->done) / prompt->total);
    } else if (auto* token = std::get_if<engine::TokenEvent>(&*event)) {
      bar.finish();
      result.tokens.push_back(token->token);
      if (!token->probs.empty()) result.probs.push_back(std::move(token->probs));
      take_text(token->text);
    } else {
      const auto& finish = std::get<engine::FinishEvent>(*event);
      bar.finish();
      take_text(finish.text);
      result.reason = finish.reason;
      result.error = finish.error;
      result.timings = finish.timings;
      return result;
    }
  }
}

}  // namespace brisk::cli
