#include "cpu/cpu_device.hpp"

#include <unistd.h>

#include "cpu/cpu_buffer.hpp"
#include "cpu/cpu_stream.hpp"
#include "cpu/ops/op_task.hpp"
#include "cpu/topology.hpp"
#include "cpu/weight_loader.hpp"

namespace brisk::cpu {

CpuDevice::CpuDevice(const KernelTable& table) : table_(table) {}

std::string CpuDevice::description() const {
  std::string name = processor_name("/");
  return name.empty() ? "CPU" : name;
}

std::pair<uint64_t, uint64_t> CpuDevice::memory() const {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return {static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page,
          static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page};
}

bool CpuDevice::supports(const Graph& graph, const Node& node) const {
  const OpRow* row = find_op(node.op);
  return row && (!row->accepts || row->accepts(graph, node));
}

std::unique_ptr<Buffer> CpuDevice::allocate(uint64_t size) {
  return std::make_unique<CpuBuffer>(Mapping(size, Mapping::Pages::normal, "a buffer"), CpuBuffer::Layout::plain);
}

std::vector<TensorStorage> CpuDevice::load_weights(std::span<const WeightSource> sources, const WeightOptions& options,
                                                   std::vector<std::unique_ptr<Buffer>>& owner) {
  return cpu::load_weights(*pool({}), sources, options, owner);
}

std::unique_ptr<Stream> CpuDevice::new_stream(const ThreadOptions& threads) {
  return std::make_unique<CpuStream>(pool(threads), table_);
}

std::shared_ptr<ThreadPool> CpuDevice::pool(const ThreadOptions& threads) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pools_, [](const KnownPool& known) { return known.pool.expired(); });
  for (const KnownPool& known : pools_) {
    if (known.options != threads) continue;
    if (auto alive = known.pool.lock()) return alive;
  }
  auto fresh = std::make_shared<ThreadPool>(threads);
  pools_.push_back({threads, fresh});
  return fresh;
}

}  // namespace brisk::cpu
