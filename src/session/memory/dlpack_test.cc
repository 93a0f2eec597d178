#include "baton/dlpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/test_program.h"

namespace baton::dlpack::dlpack_test {
namespace {

using session_test::DeviceTest;
using session_test::open_device;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The layouts of DLPack 1.3 for 64-bit systems.
static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, device) == 8 &&
              offsetof(Tensor, ndim) == 16);
static_assert(offsetof(Tensor, dtype) == 20 && offsetof(Tensor, shape) == 24);
static_assert(offsetof(Tensor, strides) == 32 && offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(ManagedTensor) == 80 && offsetof(ManagedTensor, manager_ctx) == 8);
static_assert(offsetof(ManagedTensor, deleter) == 16 && offsetof(ManagedTensor, flags) == 24);
static_assert(offsetof(ManagedTensor, tensor) == 32);

class Dlpack : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    device_ = open_device();
    memory_ = std::make_shared<const Memory>(*device_, 256);
  }

  std::optional<Device> device_;
  std::shared_ptr<const Memory> memory_;
};

TEST_F(Dlpack, MemoryGoesOutAndComesBack) {
  Owned out = share(memory_, DType::kBF16, {2, 3, 4});
  EXPECT_EQ(out->version.major, 1u);
  EXPECT_EQ(out->flags, 0u);
  const Tensor& tensor = out->tensor;
  EXPECT_EQ(reinterpret_cast<DeviceAddress>(tensor.data), memory_->address());
  EXPECT_EQ(tensor.device.type, 2);
  EXPECT_EQ(tensor.ndim, 3);
  EXPECT_EQ(tensor.dtype.code, 4);
  EXPECT_EQ(tensor.dtype.bits, 16);
  EXPECT_EQ(tensor.dtype.lanes, 1);
  EXPECT_THAT(std::vector(tensor.shape, tensor.shape + 3), ElementsAre(2, 3, 4));
  EXPECT_THAT(std::vector(tensor.strides, tensor.strides + 3), ElementsAre(12, 4, 1));
  const DeviceArray in = device_array(*out, *device_);
  EXPECT_EQ(in.dtype, DType::kBF16);
  EXPECT_THAT(in.shape, ElementsAre(2, 3, 4));
  EXPECT_EQ(in.address, memory_->address());
}

TEST_F(Dlpack, ATensorKeepsItsMemory) {
  auto memory = std::make_shared<const Memory>(*device_, 64);
  const std::weak_ptr<const Memory> watched = memory;
  Owned out = share(std::move(memory), DType::kF32, {16});
  EXPECT_FALSE(watched.expired());
  // As a consumer ends it.
  ManagedTensor* const taken = out.release();
  taken->deleter(taken);
  EXPECT_TRUE(watched.expired());
  memory = std::make_shared<const Memory>(*device_, 64);
  const std::weak_ptr<const Memory> second = memory;
  share(std::move(memory), DType::kF32, {16}).reset();
  EXPECT_TRUE(second.expired());
}

TEST_F(Dlpack, EmptyTensorsAndScalars) {
  const Owned scalar = share(memory_, DType::kF64, {});
  EXPECT_EQ(scalar->tensor.ndim, 0);
  EXPECT_THAT(device_array(*scalar, *device_).shape, IsEmpty());
  const Owned empty = share(*device_, {DType::kF64, {4, 0}, 0});
  EXPECT_THAT(device_array(*empty, *device_).shape, ElementsAre(4, 0));
  EXPECT_EQ(view(empty->tensor, *device_).bytes, 0u);
}

TEST_F(Dlpack, ATensorIsMemoryOfAProgram) {
  const Owned x = share(memory_, DType::kI32, {8});
  Executable executable = Executable::prepare(
      session_test::program(session_test::buffer("x", "i32", "[8]", "output") +
                            "[[steps]]\nfill = { buffer = \"x\", value = 9 }\n"),
      *device_);
  executable.bind({.memory = {{"x", device_array(*x, *device_)}}});
  executable.run();
  std::vector<int> values(8);
  const Stream stream(*device_);
  memory_->download(values.data(), 32, 0, stream);
  stream.synchronize();
  EXPECT_THAT(values, testing::Each(9));
}

TEST_F(Dlpack, ReadOnlyTensorsAreForReaders) {
  const Owned out = share(memory_, DType::kF32, {8}, Access::kRead);
  EXPECT_EQ(out->flags, kReadOnly);
  EXPECT_EQ(device_array(*out, *device_, Access::kRead).address, memory_->address());
  try {
    device_array(*out, *device_);
    ADD_FAILURE();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(), HasSubstr("the tensor is read-only"));
  }
}

TEST_F(Dlpack, BadTensorsAreRefused) {
  struct Bad {
    void (*change)(ManagedTensor& tensor);
    const char* message;
  };
  const Bad kBad[] = {
      {[](ManagedTensor& t) { t.version.major = 2; }, "is of DLPack 2.0"},
      {[](ManagedTensor& t) { t.version.major = 0; }, "is of DLPack 0.0"},
      {[](ManagedTensor& t) { t.tensor.device.type = 1; }, "in memory of the host"},
      {[](ManagedTensor& t) { t.tensor.device.type = 10; }, "DLPack's device type 10"},
      {[](ManagedTensor& t) { t.tensor.device.id += 7; }, "in memory of the device CUDA"},
      {[](ManagedTensor& t) { t.tensor.dtype.code = 5; }, "type code 5"},
      {[](ManagedTensor& t) { t.tensor.dtype.lanes = 4; }, "4 lanes"},
      {[](ManagedTensor& t) { t.tensor.ndim = -1; }, "has -1 dimensions"},
      {[](ManagedTensor& t) { t.tensor.shape = nullptr; }, "2 dimensions and no shape"},
      {[](ManagedTensor& t) { t.tensor.shape[1] = -4; }, "the extent -4 along axis 1"},
      {[](ManagedTensor& t) { t.tensor.shape[0] = t.tensor.shape[1] = INT64_MAX; },
       "more bytes than 64 bits"},
      {[](ManagedTensor& t) { t.tensor.strides[0] = 5; }, "axis 0 has the stride 5"},
      {[](ManagedTensor& t) { t.tensor.strides[1] = -1; }, "axis 1 has the stride -1"},
      {[](ManagedTensor& t) { t.tensor.data = nullptr; }, "8 elements and a null address"},
      {[](ManagedTensor& t) { t.tensor.byte_offset = UINT64_MAX; }, "beyond the last address"},
      {[](ManagedTensor& t) { t.tensor.byte_offset = 2; }, "not a multiple of the 4 bytes of f32"}};
  for (const Bad& bad : kBad) {
    const Owned tensor = share(memory_, DType::kF32, {2, 4});
    bad.change(*tensor);
    try {
      device_array(*tensor, *device_);
      ADD_FAILURE() << bad.message;
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(failure.message(), HasSubstr(bad.message));
    }
  }
}

TEST_F(Dlpack, StridesOfOneElementSayNothing) {
  const Owned tensor = share(memory_, DType::kF32, {1, 4});
  tensor->tensor.strides[0] = 77;
  EXPECT_THAT(device_array(*tensor, *device_).shape, ElementsAre(1, 4));
  tensor->tensor.strides = nullptr;
  tensor->tensor.byte_offset = 8;
  EXPECT_EQ(device_array(*tensor, *device_).address, memory_->address() + 8);
}

TEST_F(Dlpack, WhatCannotBeSharedIsRefused) {
  EXPECT_THROW(share(nullptr, DType::kF32, {1}), Error);
  EXPECT_THROW(share(memory_, DType::kF32, {65}), Error);
  EXPECT_THROW(share(memory_, DType::kF32, {-1}), Error);
  EXPECT_THROW(share(*device_, {DType::kF32, {1}, 0}), Error);
}

}  // namespace
}  // namespace baton::dlpack::dlpack_test
