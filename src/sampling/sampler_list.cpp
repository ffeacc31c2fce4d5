#include "sampling/sampler_list.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace brisk::sampling {
namespace {

constexpr std::array<SamplerRow, 11> kRows{{
    {"penalties", 'e', "", true, make_penalties},
    {"dry", 'd', "", false, nullptr},
    {"top_n_sigma", 's', "", false, nullptr},
    {"top_k", 'k', "", true, make_top_k},
    {"typ_p", 'y', "typ typical typical_p", false, nullptr},
    {"top_p", 'p', "nucleus", true, make_top_p},
    {"min_p", 'm', "", true, make_min_p},
    {"xtc", 'x', "", false, nullptr},
    {"temperature", 't', "temp", true, make_temperature},
    {"infill", 'i', "", false, nullptr},
    {"adaptive_p", 'a', "", false, nullptr},
}};

// Lower case, without '_' and '-', so that TOP-K, top_k and topk are one name.
std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool answers_to(const SamplerRow& row, const std::string& wanted) {
  if (folded(row.name) == wanted) return true;
  std::string_view rest = row.aliases;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (folded(rest.substr(0, end)) == wanted) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string known_names() {
  std::string out;
  for (const auto& row : kRows) {
    if (row.make == nullptr) continue;
    if (!out.empty()) out += ", ";
    out += row.name;
  }
  return out;
}

const SamplerRow& supported(const SamplerRow& row) {
  if (row.make == nullptr) {
    fail(ErrorCode::unsupported, "sampler '{}' is not supported yet; there are {}", row.name, known_names());
  }
  return row;
}

const SamplerRow& row_by_name(std::string_view name) {
  const std::string wanted = folded(name);
  const auto it = std::find_if(kRows.begin(), kRows.end(), [&](const auto& row) { return answers_to(row, wanted); });
  if (it == kRows.end()) {
    fail(ErrorCode::invalid_argument, "unknown sampler '{}'; there are {}", name, known_names());
  }
  return supported(*it);
}

const SamplerRow& row_by_letter(char letter) {
  const auto it = std::find_if(kRows.begin(), kRows.end(), [&](const auto& row) { return row.letter == letter; });
  if (it == kRows.end()) {
    fail(ErrorCode::invalid_argument, "unknown sampler letter '{}'; there are {}", letter, known_names());
  }
  return supported(*it);
}

}  // namespace

std::span<const SamplerRow> sampler_list() noexcept { return kRows; }

std::vector<std::string> parse_order(std::string_view list) {
  std::vector<std::string> order;
  while (!list.empty()) {
    const size_t end = std::min(list.find(';'), list.size());
    if (end > 0) order.emplace_back(row_by_name(list.substr(0, end)).name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return order;
}

std::vector<std::string> parse_letters(std::string_view letters) {
  std::vector<std::string> order;
  for (const char letter : letters) order.emplace_back(row_by_letter(letter).name);
  return order;
}

std::vector<std::unique_ptr<Step>> build_steps(const Params& params) {
  std::vector<std::unique_ptr<Step>> steps;
  const auto add = [&](std::unique_ptr<Step> step) {
    if (step) steps.push_back(std::move(step));
  };
  add(make_logit_bias(params));
  if (params.order.empty()) {
    for (const auto& row : kRows) {
      if (row.by_default) add(row.make(params));
    }
  } else {
    for (const auto& name : params.order) add(row_by_name(name).make(params));
  }
  return steps;
}

}  // namespace brisk::sampling
