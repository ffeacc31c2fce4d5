#include "gguf/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace brisk::gguf {

namespace {

struct Signature {
  std::string_view start;
  std::string_view meaning;
};

constexpr Signature kSignatures[] = {
    {"lmgg", "is a model in the unversioned format of early 2023 (ggml); convert the original model to GGUF"},
    {"fmgg", "is a model in the ggmf format of early 2023; convert the original model to GGUF"},
    {"tjgg", "is a model in the ggjt format of 2023; convert the original model to GGUF"},
    {"algg", "is a LoRA adapter in the old ggla format; convert the adapter to GGUF"},
    {"nsgg", "is a saved context state, not a model"},
    {"qsgg", "is a saved sequence state, not a model"},
    {"\x1f\x8b", "is compressed with gzip; unpack it first"},
    {"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it first"},
    {"\x80\x02", "is a Python pickle (an old PyTorch checkpoint); convert it to GGUF"},
    {"\x80\x04", "is a Python pickle; convert it to GGUF"},
};

bool starts_with_nocase(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), same);
}

std::string_view skip_blank(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

/// safetensors: length of a JSON header as u64, then that header.
bool is_safetensors(std::string_view head, uint64_t file_size) {
  if (head.size() < 9 || head[8] != '{') return false;
  uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  return length >= 2 && length <= file_size - 8;
}

std::string describe_lfs(std::string_view head) {
  const size_t at = head.find("\nsize ");
  std::string size = "unknown";
  if (at != std::string_view::npos) size = head.substr(at + 6, head.find('\n', at + 6) - at - 6);
  return fmt::format(
      "is a Git LFS pointer (a text of a few lines), not the model itself ({:.20} bytes); run 'git lfs pull' "
      "or download the file from its web page",
      size);
}

std::string describe_start(std::string_view head) {
  const std::string_view four = head.substr(0, 4);
  if (std::all_of(four.begin(), four.end(), [](char c) { return c >= 0x20 && c < 0x7F; })) {
    return fmt::format("is not a GGUF file: it starts with '{}' instead of 'GGUF'", four);
  }
  std::string hex;
  for (const char c : four) hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", static_cast<uint8_t>(c));
  return fmt::format("is not a GGUF file: it starts with the bytes {} instead of 47 47 55 46 ('GGUF')", hex);
}

}  // namespace

std::string describe_foreign(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "is empty; download it again";
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 1024));
  if (head.substr(0, 40) == "version https://git-lfs.github.com/spec/") return describe_lfs(head);
  const std::string_view text = skip_blank(head);
  if (starts_with_nocase(text, "<!doctype html") || starts_with_nocase(text, "<html")) {
    return "is an HTML page, not a model: the download got a web page (an error or a login); take the file's direct "
           "link";
  }
  if (starts_with_nocase(text, "<?xml")) return "is an XML text, not a model: the download got an error message";
  if (head.substr(0, 4) == "PK\x03\x04") {
    const bool torch = head.find("data.pkl") != std::string_view::npos;
    return torch ? "is a PyTorch checkpoint (a zip with data.pkl); convert it to GGUF"
                 : "is a zip archive; unpack it first";
  }
  for (const Signature& signature : kSignatures) {
    if (head.substr(0, signature.start.size()) == signature.start) return std::string(signature.meaning);
  }
  if (is_safetensors(head, bytes.size())) {
    return "is a safetensors file; brisk reads GGUF, so convert it first or download the model's GGUF version";
  }
  if (text.substr(0, 1) == "{") return "is a JSON text, not a model: a config file, or an error message of a download";
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return "starts with zeros: an unfinished download (or quantization), whose first part was not written";
  }
  if (head.size() < 4) return fmt::format("is no GGUF file: it has {} bytes, a header needs 24", head.size());
  return describe_start(head);
}

}  // namespace brisk::gguf
