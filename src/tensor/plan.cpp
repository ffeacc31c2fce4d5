#include "tensor/plan.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>

namespace brisk {

namespace {

constexpr uint64_t kAlignment = 64;  // a cache line, and a register of the widest kernels

/// First-fit over the free ranges of an arena that grows as needed.
class Arena {
 public:
  uint64_t take(uint64_t size) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second < size) continue;
      const uint64_t offset = it->first;
      const uint64_t rest = it->second - size;
      free_.erase(it);
      if (rest > 0) free_[offset + size] = rest;
      return offset;
    }
    // A free range at the very end is extended instead of left behind.
    uint64_t offset = end_;
    if (!free_.empty()) {
      const auto last = std::prev(free_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        free_.erase(last);
      }
    }
    end_ = offset + size;
    return offset;
  }

  void give_back(uint64_t offset, uint64_t size) {
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        previous->second += size;
        return;
      }
    }
    free_[offset] = size;
  }

  [[nodiscard]] uint64_t end() const { return end_; }

 private:
  std::map<uint64_t, uint64_t> free_;  // offset to size, never adjacent
  uint64_t end_ = 0;
};

size_t owner_of(const Graph& graph, TensorRef ref) {
  const Tensor& tensor = graph.tensor(ref);
  return static_cast<size_t>(tensor.view_of >= 0 ? tensor.view_of : ref.index);
}

/// By owning tensor: the last node that reads or makes it.
std::vector<size_t> last_uses(const Graph& graph) {
  std::vector<size_t> last(graph.tensors().size(), 0);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (const TensorRef input : node.inputs) {
      if (input.valid()) last[owner_of(graph, input)] = i;
    }
    if (node.output.valid()) last[owner_of(graph, node.output)] = i;
  }
  for (const TensorRef output : graph.outputs()) last[owner_of(graph, output)] = std::numeric_limits<size_t>::max();
  return last;
}

uint64_t padded_bytes(const Tensor& tensor) {
  const uint64_t bytes = bytes_of(tensor.dtype, static_cast<uint64_t>(tensor.shape.count()));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Graph without_unread_nodes(Graph graph) {
  const size_t n_nodes = graph.nodes().size();
  std::vector<bool> read(graph.tensors().size(), false);
  for (const TensorRef output : graph.outputs()) read[owner_of(graph, output)] = true;
  std::vector<bool> keep(n_nodes, false);
  for (size_t i = n_nodes; i-- > 0;) {
    const Node& node = graph.nodes()[i];
    keep[i] = !node.output.valid() || read[owner_of(graph, node.output)];
    if (!keep[i]) continue;
    for (const TensorRef input : node.inputs) {
      if (input.valid()) read[owner_of(graph, input)] = true;
    }
  }
  graph.keep_nodes(keep);
  return graph;
}

Plan make_plan(Graph graph) {
  Plan plan;
  plan.offsets.assign(graph.tensors().size(), 0);
  const std::vector<size_t> last = last_uses(graph);
  std::vector<std::vector<size_t>> dying(graph.nodes().size());
  Arena arena;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const TensorRef output = graph.nodes()[i].output;
    if (output.valid()) {
      const auto index = static_cast<size_t>(output.index);
      plan.offsets[index] = arena.take(padded_bytes(graph.tensor(output)));
      if (last[index] < graph.nodes().size()) dying[last[index]].push_back(index);
    }
    for (const size_t index : dying[i]) arena.give_back(plan.offsets[index], padded_bytes(graph.tensors()[index]));
  }
  plan.arena_bytes = arena.end();
  plan.graph = std::move(graph);
  static std::atomic<uint64_t> last_id{0};
  plan.id = ++last_id;
  return plan;
}

}  // namespace brisk
