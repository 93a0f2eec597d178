#include "baton/stream.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "baton/buffer.h"
#include "driver/driver.h"
#include "runtime/context.h"

namespace baton::stream_test {
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

TEST_F(StreamTest, WhatBelongsToAnotherDeviceIsRefused) {
  const Device other = Device::open("sim:h100");
  const Stream own(device_), foreign(other);
  const Memory memory(device_, 16), theirs(other, 16), third(Device::open("sim:h200"), 16);
  Event event(device_), their_event(other);
  char bytes[16] = {};
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"the event belongs to sim:tiny and the stream to sim:h100", [&] { event.record(foreign); }},
      {"the first event belongs to sim:tiny and the second event to sim:h100",
       [&] { elapsed_seconds(event, their_event); }},
      {"the memory belongs to sim:tiny and the stream to sim:h100",
       [&] { memory.upload(bytes, 16, 0, foreign); }},
      {"the memory belongs to sim:tiny and the stream to sim:h100",
       [&] { memory.download(bytes, 16, 0, foreign); }},
      {"the memory belongs to sim:tiny and the stream to sim:h100",
       [&] { memory.fill(0, 1, 16, 0, foreign); }},
      {"the memory belongs to sim:tiny and the stream to sim:h100",
       [&] { memory.copy_from(third, 16, 0, 0, foreign); }},
  };
  for (const auto& [message, call] : calls) {
    try {
      call();
      ADD_FAILURE() << message;
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
      EXPECT_EQ(refusal.message(), std::string(message) + ": both must belong to one device");
    }
  }
  // A copy between devices, in a stream of either, and a wait for an event of another device.
  memory.copy_from(theirs, 16, 0, 0, own);
  memory.copy_from(theirs, 16, 0, 0, foreign);
  their_event.record(foreign);
  own.wait(their_event);
  own.synchronize();
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
  try {
    Stream::adopt(device_, native);
    ADD_FAILURE() << "was not refused";
  } catch (const Error& refusal) {
    EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
    EXPECT_NE(refusal.message().find(" is not a stream of " + device_.spec() + ";"),
              std::string::npos)
        << refusal.message();
  }
}

TEST_F(StreamTest, EventsOfUnfinishedWorkHaveNoTime) {
  const Stream stream(device_);
  Event start(device_), end(device_);
  try {
    elapsed_seconds(start, end);
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.what(), testing::HasSubstr("one of the two events was never recorded"));
  }
  start.record(stream);
  end.record(stream);
  end.synchronize();
  EXPECT_GE(elapsed_seconds(start, end), 0.0);
  const Event untimed(end.device(), false);
  try {
    elapsed_seconds(start, untimed);
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.what(), testing::HasSubstr("the second event was made without timing"));
  }
}

}  // namespace
}  // namespace baton::stream_test
