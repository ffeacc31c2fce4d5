#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gguf/reader.hpp"
#include "model/hyper_params.hpp"
#include "tools/bench.hpp"

namespace brisk::tools {

/// Operations, a multiplication with its addition counting as two: of quantised matrices (int8) and of others (fp32).
struct BenchOps {
  double int8 = 0;
  double fp32 = 0;
};

/// What computing with a model takes at least: its matrices' operations, and the bytes of weights and KV to be read.
struct ModelCost {
  struct KvLayer {
    double bytes = 0;    ///< of keys and values at one position
    int32_t window = 0;  ///< positions that are read at most; 0 = all
  };
  BenchOps layers;       ///< of a token
  BenchOps head;         ///< of a token whose logits are wanted
  double bytes = 0;      ///< of the weights that one token reads: of the experts, those it uses
  double all_bytes = 0;  ///< of all weights that products read
  std::vector<KvLayer> kv;

  /// Bytes of KV that a token reads which has n before it.
  [[nodiscard]] double kv_bytes(int64_t n) const;
  /// Weights and the KV of n positions: what a decode step goes through.
  [[nodiscard]] double working_set(int64_t n) const { return all_bytes + kv_bytes(n); }
};

[[nodiscard]] ModelCost cost_of(const gguf::Model& file, const model::HyperParams& params, DType type_k, DType type_v);

/// What the machine does at most, a second.
struct MachinePeaks {
  double int8_ops = 0;
  double fp32_ops = 0;
  double read_bytes = 0;  ///< of the test's working set
};

struct BatchSizes {
  int32_t n_batch = 0;
  int32_t n_ubatch = 0;
};

/// The least time that a test can take, and what bounds it.
struct LeastTime {
  double seconds = 0;
  std::string_view limit;  ///< "int8", "fp32" or "read"; "mixed" for a prompt and a generation with different bounds
};

/// A run of the graph takes at least as long as the operations of its matrices, and as long as reading its bytes.
[[nodiscard]] LeastTime least_time(const ModelCost& cost, const BenchTest& test, const BatchSizes& sizes,
                                   const MachinePeaks& peaks);

}  // namespace brisk::tools
