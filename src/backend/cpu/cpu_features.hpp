#pragma once

#include <optional>
#include <string_view>

#include "cpu/kernels/table.hpp"

namespace brisk::cpu {

/// Whether this processor, and the operating system (register state), can run the kernels of `isa`.
[[nodiscard]] bool isa_supported(Isa isa) noexcept;

/// The fastest supported one.
[[nodiscard]] Isa best_isa() noexcept;

/// "scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni" (also with '-' or '+' for '_'); nullopt for other names.
[[nodiscard]] std::optional<Isa> isa_from_name(std::string_view name) noexcept;

}  // namespace brisk::cpu
