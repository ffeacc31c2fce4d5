#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace brisk::tokenizer {

/// A compiled pattern over valid UTF-8 (Unicode properties on). Immutable and thread-safe; each search has its own
/// Matcher.
class Regex {
 public:
  /// Throws Error (internal) when the pattern does not compile: patterns are our own.
  explicit Regex(const std::string& pattern);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  struct Match {
    size_t begin;
    size_t end;
  };

  /// The memory that searches with one pattern need; belongs to one thread.
  class Matcher {
   public:
    explicit Matcher(const Regex& regex);
    Matcher(Matcher&&) noexcept;
    ~Matcher();
    /// First match at or behind `from`. Also nullopt when a resource limit was hit: the rest then stays uncut.
    [[nodiscard]] std::optional<Match> find(std::string_view text, size_t from);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace brisk::tokenizer
