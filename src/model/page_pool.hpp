#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"

namespace brisk::model {

/// Numbers 0 .. n - 1 with reference counts; those nobody refers to are free. Not thread-safe.
class PagePool {
 public:
  PagePool() = default;
  explicit PagePool(int32_t n) : refs_(static_cast<size_t>(n), 0) {
    // Low numbers first, so that only the memory that is needed gets touched.
    for (int32_t page = n; page-- > 0;) free_.push_back(page);
  }

  /// A free page, now with one reference; nullopt when there is none.
  [[nodiscard]] std::optional<int32_t> take() {
    if (free_.empty()) return std::nullopt;
    const int32_t page = free_.back();
    free_.pop_back();
    refs_[static_cast<size_t>(page)] = 1;
    return page;
  }
  void share(int32_t page) {
    BRISK_CHECK(refs(page) > 0, "a shared page has an owner");
    ++refs_[static_cast<size_t>(page)];
  }
  void give_back(int32_t page) {
    BRISK_CHECK(refs(page) > 0, "a page is given back by an owner");
    if (--refs_[static_cast<size_t>(page)] == 0) free_.push_back(page);
  }
  [[nodiscard]] int32_t refs(int32_t page) const { return refs_[static_cast<size_t>(page)]; }
  [[nodiscard]] int32_t n_free() const { return static_cast<int32_t>(free_.size()); }
  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(refs_.size()); }

 private:
  std::vector<int32_t> refs_;
  std::vector<int32_t> free_;
};

}  // namespace brisk::model
