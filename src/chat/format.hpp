#pragma once

#include "chat/message.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::chat {

/// Text around one role's message.
struct Turn {
  std::string_view before{};
  std::string_view after{};
  std::string_view later{};  ///< before `before`, unless the turn opens the prompt
  bool trim = false;         ///< white space around the message is dropped
};

enum class SystemPlace {
  own_turn,    ///< the system message is a turn of its own
  first_user,  ///< it is put in front of the first user message, inside that turn
};

/// Where a format may be chosen without being asked for by name.
enum class Scope {
  named,  ///< one of the names of --chat-template
  exact,  ///< a variant that renders one family's own template to the letter (with its default system text)
};

/// A prompt format as data: one row of format_list.cpp. What a row cannot say needs the template interpreter.
struct Format {
  std::string_view name;
  std::string_view begin{};  ///< once, at the start
  Turn system{};
  Turn user{};
  Turn assistant{};
  std::string_view generation{};        ///< opens the assistant's turn
  std::string_view generation_later{};  ///< before `generation`
  SystemPlace system_place = SystemPlace::own_turn;
  bool always_system = false;  ///< without a system message, `default_system` is rendered
  std::string_view default_system{};
  /// The format is recognised in a template that holds all of `marks` and not `absent`.
  std::array<std::string_view, 3> marks{};
  std::string_view absent{};
  Scope scope = Scope::named;
};

std::span<const Format> format_list() noexcept;

/// By name, of either scope; null when there is none.
const Format* find_format(std::string_view name) noexcept;

/// The first row that recognises the source of a model's chat template; null when none does. Rows of scope `exact` take
/// part when `exact` is set.
const Format* recognise(std::string_view template_text, bool exact) noexcept;

/// The names for --chat-template, separated by blanks.
std::string format_names();

/// Renders a conversation. With `add_generation_prompt` it ends with what opens the assistant's turn.
/// Throws Error(invalid_argument) for a role that the format does not know.
std::vector<Segment> apply(const Format& format, std::span<const Message> messages, bool add_generation_prompt);

/// What the last message adds to the rendering of those before it: apply(all) = apply(all but the last) + this.
/// A system message that a later user message takes in must not be the last one before it.
std::vector<Segment> apply_last(const Format& format, std::span<const Message> messages, bool add_generation_prompt);

}  // namespace brisk::chat
