#include "base/counted_costs.h"

#include <gtest/gtest.h>

TEST(CountedCosts, AreCounted) {
  if (!BATON_COUNTS) GTEST_SKIP() << "a sanitizer has operator new and the locks";
  counted_costs = {};
  // By its name: a new-expression may be left out by the compiler.
  ::operator delete(::operator new(8));
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  const CountedCosts seen = counted_costs;
  EXPECT_EQ(seen.allocations, 1);
  EXPECT_EQ(seen.locks, 1);
}
