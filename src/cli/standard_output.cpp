#include "cli/standard_output.hpp"

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace brisk::cli {
namespace {

std::atomic<int> first_error{0};

}  // namespace

void guard_standard_streams() {
  // Open for the other direction: reading or writing then fails as it would on the closed stream. Standard error is the
  // exception, since nobody could be told.
  constexpr int kModes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) static_cast<void>(open("/dev/null", kModes[fd]));
  }
}

void put_output(std::string_view text) noexcept {
  if (text.empty() || first_error.load() != 0) return;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) first_error.store(errno != 0 ? errno : EIO);
}

int output_error() noexcept { return first_error.load(); }

}  // namespace brisk::cli
