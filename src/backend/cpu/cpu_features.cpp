#include "cpu/cpu_features.hpp"

#include <array>
#include <cstdint>
#include <string>

#ifdef BRISK_CPU_X86
#include <cpuid.h>
#endif

namespace brisk::cpu {
namespace {

constexpr std::array<std::string_view, kIsaCount> kNames = {"scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni"};

#ifdef BRISK_CPU_X86

constexpr bool bit(uint32_t word, int index) { return (word >> index & 1) != 0; }

struct Features {
  bool avx2 = false;  ///< with FMA and F16C
  bool avx_vnni = false;
  bool avx512 = false;  ///< F, BW, DQ, VL
  bool avx512_vnni = false;
};

/// XCR0: which register files the operating system saves.
uint64_t saved_state() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

Features detect() {
  Features found;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !bit(c, 27)) return found;  // no OSXSAVE: xgetbv would fault
  const uint64_t saved = saved_state();
  const bool ymm = (saved & 0x06) == 0x06;
  const bool zmm = (saved & 0xE6) == 0xE6;
  const bool fma_f16c = bit(c, 12) && bit(c, 29);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  const uint32_t subleaves = a;
  found.avx2 = ymm && fma_f16c && bit(b, 5);
  found.avx512 = zmm && found.avx2 && bit(b, 16) && bit(b, 17) && bit(b, 30) && bit(b, 31);
  found.avx512_vnni = found.avx512 && bit(c, 11);
  if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) found.avx_vnni = found.avx2 && bit(a, 4);
  return found;
}

bool supported(Isa isa, const Features& features) {
  switch (isa) {
    case Isa::scalar:
      return true;
    case Isa::avx2:
      return features.avx2;
    case Isa::avx2_vnni:
      return features.avx_vnni;
    case Isa::avx512:
      return features.avx512;
    case Isa::avx512_vnni:
      return features.avx512_vnni;
  }
  return false;
}

#endif

}  // namespace

bool isa_supported(Isa isa) noexcept {
#ifdef BRISK_CPU_X86
  static const Features features = detect();
  return supported(isa, features);
#else
  return isa == Isa::scalar;
#endif
}

Isa best_isa() noexcept {
  // 512-bit pairs without VNNI still beat 256-bit VNNI only in width, not in instructions: AVX2 + VNNI first.
  for (const Isa isa : {Isa::avx512_vnni, Isa::avx2_vnni, Isa::avx512, Isa::avx2}) {
    if (isa_supported(isa)) return isa;
  }
  return Isa::scalar;
}

std::optional<Isa> isa_from_name(std::string_view name) noexcept {
  for (int i = 0; i < kIsaCount; ++i) {
    const std::string_view known = kNames[static_cast<size_t>(i)];
    if (name.size() != known.size()) continue;
    bool same = true;
    for (size_t c = 0; c < name.size(); ++c) {
      const char folded = name[c] == '-' || name[c] == '+' ? '_' : name[c];
      same = same && folded == known[c];
    }
    if (same) return static_cast<Isa>(i);
  }
  return std::nullopt;
}

}  // namespace brisk::cpu
