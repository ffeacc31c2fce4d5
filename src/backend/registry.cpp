#include "backend/registry.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace brisk {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

}  // namespace

void Registry::add(std::unique_ptr<Backend> backend) {
  if (!backend) return;
  if (backend->api_version() != kBackendApiVersion) {
    fail(ErrorCode::unsupported, "backend '{}' has API version {}, this program has {}; install the matching build",
         backend->name(), backend->api_version(), kBackendApiVersion);
  }
  const auto same = [&](const auto& other) { return equal_ignoring_case(other->name(), backend->name()); };
  if (std::ranges::any_of(backends_, same)) return;
  backends_.push_back(std::move(backend));
}

std::vector<Backend*> Registry::backends() const {
  std::vector<Backend*> all;
  for (const auto& backend : backends_) all.push_back(backend.get());
  return all;
}

std::vector<Device*> Registry::devices() const {
  std::vector<Device*> all;
  for (const auto& backend : backends_) {
    const auto some = backend->devices();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Device* Registry::find_device(std::string_view name) const {
  for (Device* device : devices()) {
    if (equal_ignoring_case(device->name(), name)) return device;
  }
  return nullptr;
}

Device* Registry::first_of(DeviceType type) const {
  for (Device* device : devices()) {
    if (device->type() == type) return device;
  }
  return nullptr;
}

}  // namespace brisk
