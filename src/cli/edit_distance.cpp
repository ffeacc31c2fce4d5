#include "cli/edit_distance.hpp"

#include <algorithm>
#include <vector>

namespace brisk::cli {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      size_t best = std::min({replaced, table[i - 1][j] + 1, table[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) best = std::min(best, table[i - 2][j - 2] + 1);
      table[i][j] = best;
    }
  }
  return table[a.size()][b.size()];
}

size_t too_far_from(std::string_view unknown) { return std::max<size_t>(1, unknown.size() / 3) + 1; }

}  // namespace brisk::cli
