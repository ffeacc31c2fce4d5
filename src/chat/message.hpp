#pragma once

#include <span>
#include <string>
#include <vector>

namespace brisk::chat {

/// One turn of a conversation. Roles: system, user, assistant.
struct Message {
  std::string role;
  std::string content;
  bool operator==(const Message&) const = default;
};

/// A run of prompt text of one origin. Special tokens are looked for in template text only: what a person wrote never
/// becomes a turn marker.
struct Segment {
  std::string text;
  bool is_template = false;
  bool operator==(const Segment&) const = default;
};

/// The texts of all segments, one after the other.
std::string join(std::span<const Segment> segments);

}  // namespace brisk::chat
