#include "test_support/allocations.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local size_t live_bytes = 0;
thread_local size_t peak_live_bytes = 0;
thread_local size_t new_calls = 0;

void* counted_new_or_null(size_t size) noexcept {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) return nullptr;
  live_bytes += malloc_usable_size(memory);
  peak_live_bytes = std::max(peak_live_bytes, live_bytes);
  ++new_calls;
  return memory;
}

void* counted_new(size_t size) {
  void* memory = counted_new_or_null(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void counted_delete(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= std::min(live_bytes, malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return counted_new(size); }
void* operator new[](size_t size) { return counted_new(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return counted_new_or_null(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return counted_new_or_null(size); }
void operator delete(void* memory) noexcept { counted_delete(memory); }
void operator delete[](void* memory) noexcept { counted_delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { counted_delete(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { counted_delete(memory); }
void operator delete(void* memory, size_t) noexcept { counted_delete(memory); }
void operator delete[](void* memory, size_t) noexcept { counted_delete(memory); }

namespace brisk::test {

AllocationWatch::AllocationWatch() : live_at_start_(live_bytes), calls_at_start_(new_calls) {
  peak_live_bytes = live_bytes;
}

size_t AllocationWatch::peak_bytes() const { return peak_live_bytes - live_at_start_; }

size_t AllocationWatch::calls() const { return new_calls - calls_at_start_; }

}  // namespace brisk::test
