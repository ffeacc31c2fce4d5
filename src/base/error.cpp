#include "base/error.hpp"

#include <cstring>

namespace brisk {

void check_failed(const char* condition, const char* why, const char* file, int line) {
  const char* name = std::strrchr(file, '/');
  fail(ErrorCode::internal, "internal error at {}:{}: {} ({}); please report it", name ? name + 1 : file, line, why,
       condition);
}

}  // namespace brisk
