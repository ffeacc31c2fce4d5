#include "gguf/split_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace brisk::gguf {

namespace {

constexpr std::string_view kExtension = ".gguf";
constexpr size_t kSuffix = std::string_view("-00001-of-00002.gguf").size();

std::optional<uint32_t> five_digits(std::string_view text) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  uint32_t value = 0;
  if (!digits) return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::optional<SplitName> parse_split_name(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (name.size() <= kSuffix) return std::nullopt;
  const std::string_view suffix = std::string_view(name).substr(name.size() - kSuffix);
  if (suffix[0] != '-' || suffix.substr(6, 4) != "-of-" || suffix.substr(15) != kExtension) return std::nullopt;
  const auto number = five_digits(suffix.substr(1, 5));
  const auto count = five_digits(suffix.substr(10, 5));
  if (!number || !count || *number == 0 || *number > *count) return std::nullopt;
  return SplitName{name.substr(0, name.size() - kSuffix), *number, *count};
}

std::filesystem::path split_path(const std::string& prefix, uint32_t number, uint32_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, number, count);
}

}  // namespace brisk::gguf
