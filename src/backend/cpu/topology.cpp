#include "cpu/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/core.h>

namespace brisk::cpu {

namespace {

std::optional<std::string> first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> quota_of(const std::string& quota, const std::string& period) {
  double a = 0;
  double b = 0;
  if (!(std::istringstream(quota) >> a) || !(std::istringstream(period) >> b) || a <= 0 || b <= 0) return std::nullopt;
  return a / b;
}

/// "quota period" of one v2 group.
std::optional<double> quota_v2(const std::filesystem::path& group) {
  const auto line = first_line(group / "cpu.max");
  if (!line) return std::nullopt;
  std::istringstream words(*line);
  std::string quota;
  std::string period;
  words >> quota >> period;
  return quota_of(quota, period);
}

std::optional<double> quota_v1(const std::filesystem::path& group) {
  const auto quota = first_line(group / "cpu.cfs_quota_us");
  const auto period = first_line(group / "cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return quota_of(*quota, *period);
}

/// Path of the process's group below a controller's mount: lines of /proc/self/cgroup are "id:controllers:path".
std::string own_group(const std::filesystem::path& root, std::string_view controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool found =
        controller.empty() ? names == ",," : names.find("," + std::string(controller) + ",") != std::string::npos;
    if (found) return line.substr(second + 1);
  }
  return "/";
}

template <class Quota>
void take_least(std::optional<double>& least, const std::filesystem::path& mount, const std::string& group,
                Quota quota) {
  std::filesystem::path path = mount;
  const auto take = [&] {
    if (const auto value = quota(path)) least = std::min(least.value_or(*value), *value);
  };
  take();
  for (const auto& part : std::filesystem::path(group).relative_path()) {
    path /= part;
    take();
  }
}

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> all;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) all.push_back(i);
    }
  }
  if (all.empty()) {
    for (int i = 0; i < static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); ++i) all.push_back(i);
  }
  return all;
}

std::optional<double> cgroup_quota(const std::filesystem::path& root) {
  std::optional<double> least;
  const auto mount = root / "sys/fs/cgroup";
  take_least(least, mount, own_group(root, ""), quota_v2);
  for (const char* v1 : {"cpu", "cpu,cpuacct"}) take_least(least, mount / v1, own_group(root, "cpu"), quota_v1);
  return least;
}

std::optional<int> first_of_list(std::string_view list) {
  int value = 0;
  const auto [end, error] = std::from_chars(list.data(), list.data() + list.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

int physical_cores(const std::vector<int>& processors, const std::filesystem::path& root) {
  std::set<int> cores;
  for (const int processor : processors) {
    const auto line =
        first_line(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
    cores.insert(line ? first_of_list(*line).value_or(processor) : processor);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

int default_thread_count() {
  const int cores = physical_cores(allowed_processors(), "/");
  const auto quota = cgroup_quota("/");
  if (!quota) return cores;
  return std::clamp(static_cast<int>(std::ceil(*quota)), 1, cores);
}

std::string processor_name(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

}  // namespace brisk::cpu
