#pragma once

#include <cstdint>
#include <vector>

#include "tensor/graph.hpp"

namespace brisk {

/// Where the intermediate results of a graph lie in one arena: tensors whose lives do not overlap share bytes. Made
/// once per batch shape and reused. Offsets are multiples of 64.
struct Plan {
  Graph graph;
  std::vector<uint64_t> offsets;  ///< by tensor index; meaningless for stored tensors and views
  uint64_t arena_bytes = 0;
};

/// Outputs of the graph (and what they are views of) live until the end.
Plan make_plan(Graph graph);

}  // namespace brisk
