#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace brisk {

/// The plug-ins of a process in order of preference, the CPU last. Owned by the program's entry and passed down; not
/// thread-safe while plug-ins are added.
class Registry {
 public:
  /// Takes a plug-in. One of the same name is kept out (first wins). Throws Error(unsupported) with both numbers when
  /// its API version is another one.
  void add(std::unique_ptr<Backend> backend);

  [[nodiscard]] std::vector<Backend*> backends() const;
  [[nodiscard]] std::vector<Device*> devices() const;
  /// By name, ASCII case ignored; nullptr when there is none.
  [[nodiscard]] Device* find_device(std::string_view name) const;
  /// First device of the type; nullptr when there is none.
  [[nodiscard]] Device* first_of(DeviceType type) const;

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace brisk
