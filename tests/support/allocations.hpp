#pragma once

#include <cstddef>

namespace brisk::test {

/// What operator new handed out since the construction (this binary replaces it): bytes held at most at one time beyond
/// the start, and the number of calls. Counts the constructing thread only.
class AllocationWatch {
 public:
  AllocationWatch();
  [[nodiscard]] size_t peak_bytes() const;
  [[nodiscard]] size_t calls() const;

 private:
  size_t live_at_start_;
  size_t calls_at_start_;
};

}  // namespace brisk::test
