#pragma once

// Counts the allocations and the locks of a thread, and lets one of its allocations fail, for tests
// of what a call costs and of what it does without memory. Replaces operator new and
// pthread_mutex_lock of the whole executable: include it in one source of a test alone.

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

struct CountedCosts {
  int allocations = 0;
  int locks = 0;
  int fails = 0;  // the allocation that fails, counted from now on; 0: none
};
inline thread_local CountedCosts counted_costs;

// Sanitizers bring an operator new and locks of their own; under them the driver's calls alone
// are counted. gcc says so by macros, clang by features.
#if defined(__has_feature)
#define BATON_HAS_FEATURE(feature) __has_feature(feature)
#else
#define BATON_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    BATON_HAS_FEATURE(address_sanitizer) || BATON_HAS_FEATURE(thread_sanitizer)
#define BATON_COUNTS 0
#else
#define BATON_COUNTS 1
// Not inlined: g++ would take malloc and free for a pair of its own operators that do not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++counted_costs.allocations;
  if (counted_costs.fails != 0 && --counted_costs.fails == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++counted_costs.locks;
  return next(mutex);
}
#endif
