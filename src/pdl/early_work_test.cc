#include "pdl/early_work.h"

#include <gtest/gtest.h>

namespace baton::overlap {
namespace {

Root param(std::uint32_t index, bool with_loaded = false) {
  Root root;
  root.kind = Root::Kind::kParam;
  root.param = index;
  root.with_loaded = with_loaded;
  return root;
}

// A read of one operation whose address comes from these roots.
bool may_be_early(std::vector<Root> roots) {
  Code code;
  code.operations.resize(1);
  AccessGroup access;
  access.roots = std::move(roots);
  const EarlyWork early{
      {EarlyArgument::kConstantMemory, EarlyArgument::kScalar, EarlyArgument::kAny}};
  return overlap::may_be_early(code, 0, access, early);
}

TEST(EarlyWork, ReadsMemoryThatNoLaunchWrites) {
  EXPECT_TRUE(may_be_early({param(0)}));
  EXPECT_TRUE(may_be_early({param(0), param(1)}));
  EXPECT_FALSE(may_be_early({param(1)}));
  EXPECT_FALSE(may_be_early({param(0), param(2)}));
}

TEST(EarlyWork, IsNotAReadThroughALoadedPointer) {
  EXPECT_FALSE(may_be_early({param(0), param(1, true)}));
  EXPECT_TRUE(may_be_early({param(0, true)}));  // what was loaded is an index
}

}  // namespace
}  // namespace baton::overlap
