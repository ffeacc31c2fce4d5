#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.hpp"

#include <pcre2.h>

#include "base/error.hpp"

namespace brisk::tokenizer {

namespace {

// The patterns need no stack that grows with the text, so these limits only end what would be a mistake in a pattern. A
// match counts a step per character that it gives back, and a run of blanks may be as long as the text.
constexpr uint32_t kMatchLimit = 2'000'000'000;
constexpr uint32_t kHeapLimitKib = 64 * 1024;
constexpr uint32_t kDepthLimit = 1'000'000;

}  // namespace

struct Regex::Code {
  explicit Code(const std::string& pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error,
                         &offset, nullptr);
    if (code == nullptr) {
      PCRE2_UCHAR message[256] = {};
      pcre2_get_error_message(error, message, sizeof message);
      fail(ErrorCode::internal, "split pattern: {} at {} of {}", reinterpret_cast<const char*>(message), offset,
           pattern);
    }
    has_jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }

  pcre2_code* code = nullptr;
  bool has_jit = false;
};

struct Regex::Matcher::State {
  explicit State(const Code& of)
      : code(of), data(pcre2_match_data_create(1, nullptr)), context(pcre2_match_context_create(nullptr)) {
    if (data == nullptr || context == nullptr) fail(ErrorCode::out_of_memory, "no memory for a pattern search");
    pcre2_set_match_limit(context, kMatchLimit);
    pcre2_set_heap_limit(context, kHeapLimitKib);
    pcre2_set_depth_limit(context, kDepthLimit);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }

  int search(std::string_view text, size_t from) {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    if (code.has_jit) {
      const int found = pcre2_jit_match(code.code, subject, text.size(), from, 0, data, context);
      if (found >= 0 || found == PCRE2_ERROR_NOMATCH) return found;
    }
    return pcre2_match(code.code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, context);
  }

  const Code& code;
  pcre2_match_data* data;
  pcre2_match_context* context;
};

Regex::Regex(const std::string& pattern) : code_(std::make_unique<Code>(pattern)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Regex::Matcher::Matcher(const Regex& regex) : state_(std::make_unique<State>(*regex.code_)) {}
Regex::Matcher::Matcher(Matcher&&) noexcept = default;
Regex::Matcher::~Matcher() = default;

std::optional<Regex::Match> Regex::Matcher::find(std::string_view text, size_t from) {
  if (state_->search(text, from) < 0) return std::nullopt;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state_->data);
  return Match{ends[0], ends[1]};
}

}  // namespace brisk::tokenizer
