#include "engine/slot.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace brisk::engine {

namespace {

double ms_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

Slot::Slot(model::SequenceId sequence, model::Runner& runner, const tokenizer::Tokenizer& tokenizer,
           std::span<const int32_t> eog_tokens)
    : sequence_(sequence), runner_(runner), tokenizer_(tokenizer), eog_tokens_(eog_tokens) {}

size_t Slot::reusable(std::span<const int32_t> prompt) const {
  const auto [mine, theirs] = std::ranges::mismatch(history_, prompt);
  const auto same = static_cast<size_t>(mine - history_.begin());
  // The last prompt token is computed in any case: its logits are not kept.
  const size_t usable = prompt.empty() ? 0 : std::min(same, prompt.size() - 1);
  return runner_.kv().can_continue_at(sequence_, static_cast<int32_t>(usable)) ? usable : 0;
}

std::string Slot::refusal(const Request& request) const {
  const int32_t n_vocab = static_cast<int32_t>(runner_.model().params().n_vocab);
  const auto n_ctx = static_cast<size_t>(runner_.kv().options().n_ctx);
  if (request.prompt.empty()) return "the prompt is empty; give at least one token";
  const auto bad = std::ranges::find_if(request.prompt, [=](int32_t id) { return id < 0 || id >= n_vocab; });
  if (bad != request.prompt.end()) return fmt::format("token {} is outside the vocabulary of {}", *bad, n_vocab);
  if (request.prompt.size() >= n_ctx) {
    return fmt::format("the prompt has {} tokens, the context has room for {}; raise --ctx-size or shorten it",
                       request.prompt.size(), n_ctx);
  }
  return {};
}

void Slot::begin(std::shared_ptr<Job> job) {
  job_ = std::move(job);
  started_ = Clock::now();
  timings_ = {};
  pending_.clear();
  const Request& request = job_->request;
  if (const std::string why = refusal(request); !why.empty()) {
    const bool too_long = request.prompt.size() >= static_cast<size_t>(runner_.kv().options().n_ctx);
    return finish(too_long ? FinishReason::context_full : FinishReason::failed, why);
  }
  try {
    sampling::Params params = request.sampling;
    if (request.ignore_eos) {
      for (const int32_t id : eog_tokens_) params.logit_bias.push_back({id, -std::numeric_limits<float>::infinity()});
    }
    sampler_ = std::make_unique<sampling::Sampler>(params, static_cast<int32_t>(runner_.model().params().n_vocab));
  } catch (const Error& error) {
    return finish(FinishReason::failed, error.what());
  }
  for (const int32_t id : request.prompt) sampler_->accept(id);
  decoder_.emplace(tokenizer_, request.special);
  stop_filter_.emplace(request.stop, request.emit_stop);

  const size_t kept = reusable(request.prompt);
  if (!runner_.kv().remove(sequence_, static_cast<int32_t>(kept), -1)) runner_.kv().clear(sequence_);
  history_.resize(static_cast<size_t>(runner_.kv().size(sequence_)));
  timings_.cached_n = static_cast<int32_t>(history_.size());
  timings_.prompt_n = static_cast<int32_t>(request.prompt.size() - history_.size());
  pending_.assign(request.prompt.begin() + static_cast<ptrdiff_t>(history_.size()), request.prompt.end());
  if (request.n_predict == 0) finish(FinishReason::length);
}

size_t Slot::add_to(model::Batch& batch, size_t budget) {
  n_added_ = std::min(budget, pending_.size());
  output_wanted_ = false;
  for (size_t i = 0; i < n_added_; ++i) {
    output_wanted_ = i + 1 == pending_.size();
    output_index_ = batch.size();
    batch.add(pending_[i], static_cast<int32_t>(history_.size() + i), sequence_, output_wanted_);
  }
  return n_added_;
}

void Slot::advance() {
  history_.insert(history_.end(), pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(n_added_));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(n_added_));
  n_added_ = 0;
  if (timings_.predicted_n == 0) {
    job_->sink->on_prompt(static_cast<int32_t>(history_.size()), static_cast<int32_t>(job_->request.prompt.size()));
  }
  if (output_wanted_) take_token(runner_.logits(output_index_));
}

void Slot::resync() {
  const auto computed = static_cast<size_t>(runner_.kv().size(sequence_));
  const size_t n = computed > history_.size() ? std::min(computed - history_.size(), n_added_) : 0;
  // The last pending token is computed again if it was reached: its logits went with the run.
  const size_t kept = n == pending_.size() && n > 0 ? n - 1 : n;
  history_.insert(history_.end(), pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(kept));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(kept));
  n_added_ = 0;
  runner_.kv().truncate(sequence_, static_cast<int32_t>(history_.size()));
}

void Slot::take_token(std::span<const float> logits) {
  const auto now = Clock::now();
  if (timings_.predicted_n == 0) {
    first_token_ = now;
    timings_.prompt_ms = ms_between(started_, now);
  }
  timings_.predicted_ms = ms_between(first_token_, now);
  const int32_t token = sampler_->sample(logits);
  if (token == sampling::kNoToken) return finish(FinishReason::failed, "no token is allowed here");
  sampler_->accept(token);
  ++timings_.predicted_n;
  emit(token, logits);
  if (tokenizer_.vocab().is_eog(token)) return finish(FinishReason::end_of_generation);
  if (stop_filter_->stopped()) return finish(FinishReason::stop_text);
  const int32_t limit = job_->request.n_predict;
  if (limit >= 0 && timings_.predicted_n >= limit) return finish(FinishReason::length);
  if (!make_room()) {
    return finish(FinishReason::context_full,
                  fmt::format("the context of {} tokens is full; raise --ctx-size or allow --context-shift",
                              runner_.kv().options().n_ctx));
  }
  pending_.push_back(token);
}

void Slot::emit(int32_t token, std::span<const float> logits) {
  const Request& request = job_->request;
  TokenEvent event{token, {}, {}};
  const bool visible = request.special || !tokenizer_.vocab().is_eog(token);
  if (visible) event.text = stop_filter_->push(decoder_->push(token));
  if (request.n_probs > 0) event.probs = sampling::top_logprobs(logits, static_cast<size_t>(request.n_probs));
  job_->sink->on_token(event);
}

/// Room for one more token: a context shift drops the older half of what is not kept.
bool Slot::make_room() {
  const int32_t n_ctx = runner_.kv().options().n_ctx;
  const auto held = static_cast<int32_t>(history_.size());
  if (held < n_ctx) return true;
  const Request& request = job_->request;
  if (!request.context_shift) return false;
  const auto prompt = static_cast<int32_t>(request.prompt.size());
  const int32_t keep = std::clamp(request.n_keep < 0 ? prompt : request.n_keep, 0, n_ctx - 4);
  const int32_t dropped = std::max(1, (held - keep) / 2);
  model::KvCache& kv = runner_.kv();
  if (!kv.remove(sequence_, keep, keep + dropped) || !kv.shift(sequence_, keep + dropped, -1, -dropped)) return false;
  history_.erase(history_.begin() + keep, history_.begin() + keep + dropped);
  return true;
}

void Slot::finish(FinishReason reason, std::string error) {
  FinishEvent event{reason, {}, std::move(error), timings_, sampler_ ? sampler_->seed() : 0};
  if (decoder_ && stop_filter_) {
    event.text = stop_filter_->push(decoder_->flush());
    event.text += stop_filter_->flush();
  }
  pending_.clear();
  n_added_ = 0;
  sampler_.reset();
  decoder_.reset();
  stop_filter_.reset();
  const std::shared_ptr<Job> job = std::move(job_);
  job_ = nullptr;
  job->sink->on_finish(event);
}

}  // namespace brisk::engine
