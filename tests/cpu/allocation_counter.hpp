#pragma once

#include <cstdint>

namespace brisk::test {

/// How often this process has asked operator new for memory.
int64_t allocation_count();

}  // namespace brisk::test
