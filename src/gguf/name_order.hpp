#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace brisk::gguf {

/// Indices of `items` sorted by `name_of(item)`, equal names in index order.
template <typename Items, typename NameOf>
std::vector<uint32_t> order_by_name(const Items& items, NameOf name_of) {
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int compared = name_of(items[a]).compare(name_of(items[b]));
    return compared != 0 ? compared < 0 : a < b;
  });
  return order;
}

/// The first two neighbours of equal name in such an order, as indices.
template <typename Items, typename NameOf>
std::optional<std::pair<uint32_t, uint32_t>> find_equal(const Items& items, const std::vector<uint32_t>& order,
                                                        NameOf name_of) {
  const auto same = [&](uint32_t a, uint32_t b) { return name_of(items[a]) == name_of(items[b]); };
  const auto found = std::adjacent_find(order.begin(), order.end(), same);
  if (found == order.end()) return std::nullopt;
  return std::pair{*found, *(found + 1)};
}

}  // namespace brisk::gguf
