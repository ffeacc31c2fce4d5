#pragma once

#include "sampling/step.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brisk::sampling {

/// One sampler that a chain may name. The row is all there is to register: names, letters, order and the list in the
/// documentation derive from it.
struct SamplerRow {
  std::string_view name;                         ///< canonical
  char letter;                                   ///< of --sampler-seq
  std::string_view aliases;                      ///< separated by blanks, besides those with '-' or nothing for '_'
  bool by_default;                               ///< in the default order (the order of the rows)
  std::unique_ptr<Step> (*make)(const Params&);  ///< null: known by name, not supported yet
};

std::span<const SamplerRow> sampler_list() noexcept;

/// The canonical names of a list such as "top_k;temperature". Case and '_' against '-' do not matter.
/// Throws Error(invalid_argument) for a name that no sampler has, Error(unsupported) for one that is not there yet.
std::vector<std::string> parse_order(std::string_view list);

/// The same by letters: "kt".
std::vector<std::string> parse_letters(std::string_view letters);

/// The steps for `params`, in order, without those that are switched off.
std::vector<std::unique_ptr<Step>> build_steps(const Params& params);

}  // namespace brisk::sampling
