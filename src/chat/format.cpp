#include "chat/format.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace brisk::chat {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Collects segments; neighbours of one origin become one.
class Writer {
 public:
  void add(std::string_view text, bool is_template) {
    if (text.empty()) return;
    if (!out_.empty() && out_.back().is_template == is_template) {
      out_.back().text += text;
    } else {
      out_.push_back({std::string(text), is_template});
    }
  }
  void open(const Turn& turn) {
    if (!out_.empty()) add(turn.later, true);
    add(turn.before, true);
  }
  void content(const Turn& turn, std::string_view text) { add(turn.trim ? trimmed(text) : text, false); }
  void close(const Turn& turn) { add(turn.after, true); }
  [[nodiscard]] bool empty() const { return out_.empty(); }
  std::vector<Segment> take() { return std::move(out_); }

 private:
  std::vector<Segment> out_;
};

class Renderer {
 public:
  explicit Renderer(const Format& format) : format_(format) {}

  void begin(std::span<const Message> messages) {
    writer_.add(format_.begin, true);
    const bool has_system = !messages.empty() && messages.front().role == "system";
    if (has_system || !format_.always_system) return;
    writer_.open(format_.system);
    writer_.add(format_.default_system, true);
    writer_.close(format_.system);
  }

  void message(const Message& message) {
    if (message.role == "system" && format_.system_place == SystemPlace::first_user) {
      pending_system_ += message.content;
      has_pending_ = true;
      return;
    }
    const Turn& turn = turn_of(message.role);
    writer_.open(turn);
    if (has_pending_) {
      writer_.add(format_.system.before, true);
      writer_.content(format_.system, pending_system_);
      writer_.close(format_.system);
      has_pending_ = false;
    }
    writer_.content(turn, message.content);
    writer_.close(turn);
  }

  void generation() {
    writer_.add(writer_.empty() ? std::string_view{} : format_.generation_later, true);
    writer_.add(format_.generation, true);
  }

  std::vector<Segment> take() { return writer_.take(); }

 private:
  const Turn& turn_of(const std::string& role) const {
    if (role == "user") return format_.user;
    if (role == "assistant") return format_.assistant;
    if (role == "system") return format_.system;
    fail(ErrorCode::invalid_argument, "chat format '{}' has no role '{}'; there are system, user and assistant",
         format_.name, role);
  }

  const Format& format_;
  Writer writer_;
  std::string pending_system_;
  bool has_pending_ = false;
};

bool recognises(const Format& format, std::string_view text) {
  if (format.marks[0].empty()) return false;
  if (!format.absent.empty() && text.find(format.absent) != std::string_view::npos) return false;
  return std::all_of(format.marks.begin(), format.marks.end(),
                     [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
}

}  // namespace

std::string join(std::span<const Segment> segments) {
  std::string out;
  for (const auto& segment : segments) out += segment.text;
  return out;
}

const Format* find_format(std::string_view name) noexcept {
  const auto rows = format_list();
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Format& row) { return row.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

const Format* recognise(std::string_view template_text, bool exact) noexcept {
  for (const auto& row : format_list()) {
    if ((exact || row.scope == Scope::named) && recognises(row, template_text)) return &row;
  }
  return nullptr;
}

std::string format_names() {
  std::string out;
  for (const auto& row : format_list()) {
    if (row.scope != Scope::named) continue;
    if (!out.empty()) out += ' ';
    out += row.name;
  }
  return out;
}

std::vector<Segment> apply(const Format& format, std::span<const Message> messages, bool add_generation_prompt) {
  Renderer renderer(format);
  renderer.begin(messages);
  for (const auto& message : messages) renderer.message(message);
  if (add_generation_prompt) renderer.generation();
  return renderer.take();
}

std::vector<Segment> apply_last(const Format& format, std::span<const Message> messages, bool add_generation_prompt) {
  BRISK_CHECK(!messages.empty(), "a last message");
  if (messages.size() == 1) return apply(format, messages, add_generation_prompt);
  const std::vector<Segment> before = apply(format, messages.first(messages.size() - 1), false);
  std::vector<Segment> all = apply(format, messages, add_generation_prompt);
  // Rendering only appends, so what was there is a prefix; its last segment may have grown.
  size_t skip = before.empty() ? 0 : before.size() - 1;
  if (!before.empty()) {
    all[skip].text.erase(0, before.back().text.size());
    if (all[skip].text.empty()) ++skip;
  }
  all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(skip));
  return all;
}

}  // namespace brisk::chat
