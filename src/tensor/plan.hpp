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
  uint64_t id = 0;  ///< unique in the process, so that devices can keep what they prepare for a plan; 0 = they cannot
};

/// The graph without the nodes whose result nobody reads: neither a later node nor an output nor an effect.
Graph without_unread_nodes(Graph graph);

/// Outputs of the graph (and what they are views of) live until the end.
Plan make_plan(Graph graph);

}  // namespace brisk
