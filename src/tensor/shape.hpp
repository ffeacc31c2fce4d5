#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace brisk {

/// Four dimensions, innermost first, unused ones 1: a matrix of m rows of n values is {n, m}.
struct Shape {
  std::array<int64_t, 4> dim{1, 1, 1, 1};

  constexpr Shape() = default;
  constexpr Shape(int64_t d0, int64_t d1 = 1, int64_t d2 = 1, int64_t d3 = 1) : dim{d0, d1, d2, d3} {}

  [[nodiscard]] constexpr int64_t operator[](int i) const { return dim[static_cast<size_t>(i)]; }
  [[nodiscard]] constexpr int64_t count() const { return dim[0] * dim[1] * dim[2] * dim[3]; }
  /// Number of rows: everything but the innermost dimension.
  [[nodiscard]] constexpr int64_t rows() const { return dim[1] * dim[2] * dim[3]; }
  constexpr bool operator==(const Shape&) const = default;
};

/// "[576, 1536]"; trailing ones are left out.
std::string to_string(const Shape& shape);

}  // namespace brisk
