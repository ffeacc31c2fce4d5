#include "model/arch/arch.hpp"

namespace brisk::model {

extern const Architecture kGemma, kGemma2, kGemma3, kGpt2Architecture, kLlama, kOlmo2, kPhi3, kQwen2, kQwen2Moe, kQwen3,
    kQwen3Moe, kSmollm3;

namespace {

constexpr const Architecture* kArchitectures[] = {
    &kGemma, &kGemma2,   &kGemma3, &kGpt2Architecture, &kLlama,   &kOlmo2, &kPhi3,
    &kQwen2, &kQwen2Moe, &kQwen3,  &kQwen3Moe,         &kSmollm3,
};

}  // namespace

std::span<const Architecture* const> architectures() { return kArchitectures; }

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture* architecture : kArchitectures) {
    if (architecture->name == name) return architecture;
  }
  return nullptr;
}

}  // namespace brisk::model
