#pragma once

#include <memory>
#include <optional>

#include "backend/backend.hpp"
#include "cpu/kernels/table.hpp"

namespace brisk {

struct CpuOptions {
  std::optional<cpu::Isa> isa;  ///< forces the kernels of one instruction set; empty = the fastest supported
};

/// The CPU plug-in: one device, "CPU". Throws Error (unsupported) when the processor lacks the forced instruction set.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options = {});

}  // namespace brisk
