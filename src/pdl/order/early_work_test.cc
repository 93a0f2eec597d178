#include "pdl/order/early_work.h"

#include <gtest/gtest.h>

#include <string>

#include "pdl/test_support.h"

namespace baton::overlap::early_work_test {
namespace {

// Whether a load of %d9 may be early after `compute`. p0 is memory that no launch writes, p1 a
// number, p2 may be anything.
bool may_be_early(const std::string& compute, const std::string& load = "ld.global.f32 %f1, [%d9];",
                  bool constant_memory = false) {
  const Footprint found =
      footprint_of(compute + load, ".const .u32 table[4]; .global .u32 counter[4];");
  const EarlyWork early{
      {EarlyArgument::kConstantMemory, EarlyArgument::kScalar, EarlyArgument::kAny},
      constant_memory};
  return overlap::may_be_early(found, found.accesses.back(), early);
}

TEST(EarlyWork, ReadsMemoryThatNoLaunchWrites) {
  EXPECT_TRUE(may_be_early("mov.b64 %d9, %a;"));
  EXPECT_TRUE(may_be_early("add.s64 %d9, %a, %b;"));
  EXPECT_FALSE(may_be_early("mov.b64 %d9, %b;"));
  EXPECT_FALSE(may_be_early("mov.b64 %d9, %c;"));
  EXPECT_FALSE(may_be_early("selp.b64 %d9, %a, %c, %p1;"));
  EXPECT_FALSE(may_be_early("mov.b64 %d9, %a;", "st.global.f32 [%d9], %f1;"));
}

TEST(EarlyWork, IsNotAReadThroughALoadedPointer) {
  const std::string load = "ld.global.u64 %d1, [%a];";
  EXPECT_FALSE(may_be_early(load + "selp.b64 %d9, %a, %d1, %p1;"));
  EXPECT_FALSE(may_be_early(load + "add.s64 %d9, %d1, %b;"));
  EXPECT_TRUE(may_be_early(load + "add.s64 %d9, %a, %d1;"));  // what was loaded is an index
}

TEST(EarlyWork, IsNotAnAddressThatAnotherBufferIsPartOf) {
  EXPECT_FALSE(may_be_early("sub.s64 %d1, %c, %a; add.s64 %d9, %a, %d1;"));
  EXPECT_TRUE(may_be_early("sub.s64 %d1, %c, %c; add.s64 %d9, %a, %d1;"));
}

TEST(EarlyWork, ReadsConstantMemoryWhereNoLaunchWritesIt) {
  EXPECT_TRUE(may_be_early("", "ld.const.u32 %r3, [table];", true));
  EXPECT_FALSE(may_be_early("", "ld.const.u32 %r3, [table];", false));
  EXPECT_FALSE(may_be_early("", "ld.global.u32 %r3, [counter];", true));
}

}  // namespace
}  // namespace baton::overlap::early_work_test
