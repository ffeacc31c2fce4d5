#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brisk::engine {

/// Looks for stop texts in a stream of text and holds back what may still become one, so that nothing which was handed
/// on is ever taken back.
class StopFilter {
 public:
  /// Empty stop texts are ignored. `emit_stop`: the matched text is handed on, too.
  StopFilter(std::vector<std::string> stops, bool emit_stop);

  /// Takes text; returns what is safe to hand on. After a match everything further is swallowed.
  [[nodiscard]] std::string push(std::string_view text);
  /// What was held back, at the end of the stream.
  [[nodiscard]] std::string flush();
  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

 private:
  [[nodiscard]] size_t held_length() const;

  std::vector<std::string> stops_;
  bool emit_stop_;
  std::string pending_;
  bool stopped_ = false;
};

}  // namespace brisk::engine
