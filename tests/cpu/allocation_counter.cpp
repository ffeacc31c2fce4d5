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

// Every form that does not align, so that none meets the other half of a sanitizer's own.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++g_count;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
