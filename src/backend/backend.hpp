#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/buffer.hpp"
#include "tensor/graph.hpp"
#include "tensor/plan.hpp"

namespace brisk {

/// Raised whenever a type in this header changes; a plug-in of another version is refused with both numbers.
inline constexpr uint32_t kBackendApiVersion = 2;

enum class DeviceType : uint8_t { cpu, gpu, integrated_gpu, accelerator };

/// A weight as it lies in its file. The bytes stay valid until load_weights returns.
struct WeightSource {
  std::string name;
  DType dtype;
  Shape shape;
  std::span<const std::byte> bytes;
  bool rows_only = false;  ///< only ever read by embed_rows: the device need not prepare it for products
  /// Told how many of the first bytes are not needed any more, in the end all of them. May be empty.
  std::function<void(uint64_t)> release;
};

struct WeightOptions {
  bool repack = true;  ///< false: use the file's bytes as they are (they must then outlive the weights)
  /// Bytes done, bytes in all; returning false stops the load with Error(cancelled). May be empty.
  std::function<bool(uint64_t, uint64_t)> progress;
};

/// How a stream uses processors. Zero or empty = the device's default.
struct ThreadOptions {
  int n_threads = 0;           ///< for graphs of few tokens (decode)
  int n_threads_batch = 0;     ///< for graphs of many tokens (prefill); 0 = n_threads
  std::vector<bool> cpu_mask;  ///< processors that may be used, by number; empty = all that the process may use
  bool strict = false;         ///< bind each thread to one processor of the mask
  int priority = 0;            ///< -1 low, 0 normal, 1 medium, 2 high, 3 realtime
  int poll = 50;               ///< 0 = sleep at once, 100 = spin long
  bool operator==(const ThreadOptions&) const = default;
};

/// An execution queue of a device. One thread at a time may use it.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Runs the plan's nodes in order; intermediate results lie in the stream's own arena until the next run. A node that
  /// fails throws here. Many = the prefill thread count is used.
  virtual void run(const Plan& plan, bool many_tokens) = 0;
  /// Bytes of a tensor that the last plan marked as output (or of a stored tensor).
  virtual void read(const Plan& plan, TensorRef tensor, uint64_t offset, std::span<std::byte> out) const = 0;
  /// Asked between nodes; true ends the run with Error(cancelled). Replaces the previous one.
  virtual void set_abort(std::function<bool()> should_abort) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;    ///< short and unique: "CPU", "CUDA0"
  [[nodiscard]] virtual std::string description() const = 0;  ///< hardware model
  [[nodiscard]] virtual DeviceType type() const = 0;
  /// Free and total bytes; 0, 0 = unknown.
  [[nodiscard]] virtual std::pair<uint64_t, uint64_t> memory() const = 0;
  /// Whether the node can run here: a pure function of op, parameters, types and shapes.
  [[nodiscard]] virtual bool supports(const Graph& graph, const Node& node) const = 0;
  /// Zeroed memory; physical pages are taken when first touched where the system allows it.
  virtual std::unique_ptr<Buffer> allocate(uint64_t size) = 0;
  /// Brings all weights onto the device, in the layout that its products want (in parallel). The result has a storage
  /// for each source, in order; the buffers are owned by `owner`'s elements.
  virtual std::vector<TensorStorage> load_weights(std::span<const WeightSource> sources, const WeightOptions& options,
                                                  std::vector<std::unique_ptr<Buffer>>& owner) = 0;
  virtual std::unique_ptr<Stream> new_stream(const ThreadOptions& threads) = 0;
};

/// A plug-in: one family of devices. Lives until it is unloaded; devices live as long as their plug-in.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual uint32_t api_version() const = 0;
  [[nodiscard]] virtual std::span<Device* const> devices() = 0;
  /// Build and machine features as the field prints them: {"AVX2", "1"}.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> features() const = 0;
};

}  // namespace brisk
