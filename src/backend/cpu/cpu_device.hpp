#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "cpu/kernels/table.hpp"
#include "cpu/thread_pool.hpp"

namespace brisk::cpu {

/// The processor as a device. Streams with the same thread options share a pool. Any thread may call it.
class CpuDevice : public Device {
 public:
  explicit CpuDevice(const KernelTable& table);

  [[nodiscard]] std::string_view name() const override { return "CPU"; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] DeviceType type() const override { return DeviceType::cpu; }
  [[nodiscard]] std::pair<uint64_t, uint64_t> memory() const override;
  [[nodiscard]] bool supports(const Graph& graph, const Node& node) const override;
  std::unique_ptr<Buffer> allocate(uint64_t size) override;
  std::vector<TensorStorage> load_weights(std::span<const WeightSource> sources, const WeightOptions& options,
                                          std::vector<std::unique_ptr<Buffer>>& owner) override;
  std::unique_ptr<Stream> new_stream(const ThreadOptions& threads) override;

  /// The pool that streams with these options run on.
  std::shared_ptr<ThreadPool> pool(const ThreadOptions& threads);
  [[nodiscard]] const KernelTable& table() const { return table_; }

 private:
  struct KnownPool {
    ThreadOptions options;
    std::weak_ptr<ThreadPool> pool;
  };
  const KernelTable& table_;
  std::mutex mutex_;
  std::vector<KnownPool> pools_;
};

}  // namespace brisk::cpu
