#include "cpu/cpu_backend.hpp"

#include "base/error.hpp"
#include "cpu/cpu_device.hpp"
#include "cpu/cpu_features.hpp"

namespace brisk {

namespace {

/// What the kernels in use are built for, as the field prints it.
std::vector<std::pair<std::string, std::string>> features_of(cpu::Isa isa) {
  using cpu::Isa;
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](const char* name) { list.emplace_back(name, "1"); };
  if (isa == Isa::scalar) return list;
  for (const char* name : {"SSE3", "SSSE3", "AVX", "AVX2", "F16C", "FMA"}) add(name);
  if (isa == Isa::avx2_vnni) add("AVX_VNNI");
  if (isa == Isa::avx512 || isa == Isa::avx512_vnni) add("AVX512");
  if (isa == Isa::avx512_vnni) add("AVX512_VNNI");
  list.emplace_back("REPACK", "1");
  return list;
}

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(cpu::Isa isa) : isa_(isa), device_(cpu::kernel_table(isa)) {}

  [[nodiscard]] std::string_view name() const override { return "CPU"; }
  [[nodiscard]] uint32_t api_version() const override { return kBackendApiVersion; }
  [[nodiscard]] std::span<Device* const> devices() override { return devices_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> features() const override { return features_of(isa_); }

 private:
  cpu::Isa isa_;
  cpu::CpuDevice device_;
  Device* devices_[1] = {&device_};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  const cpu::Isa isa = options.isa.value_or(cpu::best_isa());
  if (!cpu::isa_supported(isa)) {
    fail(ErrorCode::unsupported,
         "this processor cannot run the kernels '{}'; leave the choice to brisk or name another",
         cpu::kernel_table(isa).name);
  }
  return std::make_unique<CpuBackend>(isa);
}

}  // namespace brisk
