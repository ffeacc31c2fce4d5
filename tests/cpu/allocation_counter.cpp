#include "allocation_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> g_count{0};

}  // namespace

namespace brisk::test {

int64_t allocation_count() { return g_count.load(); }

}  // namespace brisk::test

void* operator new(std::size_t size) {
  ++g_count;
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
