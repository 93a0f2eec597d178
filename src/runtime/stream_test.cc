#include "baton/stream.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "baton/buffer.h"
#include "driver/driver.h"
#include "runtime/context.h"

namespace baton {
namespace {

class StreamTest : public testing::Test {
 protected:
  const Device device_ = Device::open("sim:tiny");
};

TEST_F(StreamTest, MoveTheirOwnership) {
  Stream first(device_);
  const NativeStream native = first.native();
  Stream second(std::move(first));
  EXPECT_EQ(second.native(), native);
  EXPECT_EQ(first.native(), nullptr);  // NOLINT: a moved-from Stream is empty
  Stream third(device_);
  third = std::move(second);
  EXPECT_EQ(third.native(), native);
  third.synchronize();
}

TEST_F(StreamTest, EventsMoveTheirOwnership) {
  Event first(device_);
  const NativeEvent native = first.native();
  Event second(std::move(first));
  EXPECT_EQ(second.native(), native);
  Event third(device_, false);
  third = std::move(second);
  EXPECT_EQ(third.native(), native);
  third.record(Stream(device_));
  third.synchronize();
  EXPECT_TRUE(third.done());
}

TEST_F(StreamTest, AForeignStreamBringsItsOwnDevice) {
  const Device other = Device::open("sim:h100");
  const Stream owner(other);
  const Stream adopted = Stream::adopt(device_, owner.native());
  EXPECT_EQ(adopted.device(), other);
  EXPECT_EQ(adopted.native(), owner.native());
}

TEST_F(StreamTest, DefaultStreamsTakeTheDeviceGiven) {
  for (CUstream stream : {CUstream{}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    const Stream adopted = Stream::adopt(device_, stream);
    EXPECT_EQ(adopted.device(), device_);
    EXPECT_EQ(adopted.native(), stream);
    adopted.synchronize();
    EXPECT_TRUE(adopted.done());
  }
}

TEST_F(StreamTest, AnAdoptedStreamIsNotDestroyed) {
  const Stream owner(device_);
  { const Stream adopted = Stream::adopt(device_, owner.native()); }
  owner.synchronize();
}

TEST_F(StreamTest, NoStreamIsAnError) {
  Stream gone(device_);
  const NativeStream native = gone.native();
  gone = Stream(device_);
  EXPECT_THROW(Stream::adopt(device_, native), Error);
}

TEST_F(StreamTest, EventsOfUnfinishedWorkHaveNoTime) {
  const Stream stream(device_);
  Event start(device_), end(device_);
  EXPECT_THROW(elapsed_seconds(start, end), Error);  // never recorded
  start.record(stream);
  end.record(stream);
  end.synchronize();
  EXPECT_GE(elapsed_seconds(start, end), 0.0);
}

}  // namespace
}  // namespace baton
