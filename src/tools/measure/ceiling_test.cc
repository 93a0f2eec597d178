#include "tools/measure/ceiling.h"

#include <gtest/gtest.h>

namespace baton::tools::ceiling_test {
namespace {

TEST(CopyCeiling, IsMeasured) {
  CopyCeiling ceiling(Device::open("sim"));
  EXPECT_THROW(ceiling.times(), Error);
  for (int i = 0; i < 3; ++i) ceiling.measure();
  EXPECT_EQ(ceiling.times().count, 3u);
  EXPECT_GT(ceiling.times().least, 0);
  EXPECT_GT(ceiling.bytes_per_second(), 1e6);
}

TEST(CopyCeiling, LeavesHalfOfAnAlmostFullDevice) {
  const Device device = Device::open("sim");
  const Memory rest(device, device.free_memory() - (12 << 20));
  EXPECT_EQ(CopyCeiling(device).bytes(), 2u * (2 << 20));
}

}  // namespace
}  // namespace baton::tools::ceiling_test
