#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace brisk::cpu {

/// Numbers of the processors that this process may run on (its scheduling affinity), ascending.
[[nodiscard]] std::vector<int> allowed_processors();

/// Processors' worth of time that the control group (v2, else v1) grants, nullopt when it sets no limit. `root` is
/// where the file system is looked at ("/" but in tests).
[[nodiscard]] std::optional<double> cgroup_quota(const std::filesystem::path& root);

/// How many of `processors` are the first of their physical core.
[[nodiscard]] int physical_cores(const std::vector<int>& processors, const std::filesystem::path& root);

/// Threads to use when nobody says: one for each physical core that the process may use, not more than the quota.
[[nodiscard]] int default_thread_count();

/// First number of a list such as "0,4-7"; nullopt when it does not start with one.
[[nodiscard]] std::optional<int> first_of_list(std::string_view list);

/// "Intel(R) Xeon(R) Processor", or empty.
[[nodiscard]] std::string processor_name(const std::filesystem::path& root);

}  // namespace brisk::cpu
