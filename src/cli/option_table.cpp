#include "cli/option_table.hpp"

#include <algorithm>
#include <array>

namespace brisk::cli {

std::span<const OptionSection> option_sections() {
  static const std::array<OptionSection, 10> sections{{
      {"general", general_options()},
      {"processors and memory", cpu_options()},
      {"context, batch and cache", context_options()},
      {"prompt and chat", chat_options()},
      {"model and adapters", model_options()},
      {"devices, images and sound", device_options()},
      {"sampling", sampling_options()},
      {"speculative decoding", speculative_options()},
      {"server", server_options()},
      {"single programs", program_options()},
  }};
  return sections;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool belongs_to(const OptionRow& row, std::string_view program) {
  // inspect has no parser-based ancestor, so the common options are not its own.
  if (has_word(row.who, "all") && program != "in") return true;
  if (has_word(row.who, program)) return true;
  // `brisk run` is completion and chat client in one.
  return program == "run" && (has_word(row.who, "cp") || has_word(row.who, "cli"));
}

}  // namespace brisk::cli
