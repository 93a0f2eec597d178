// Faults leave a device's context unusable, so each happens in a child process of its own.

#include <cstdio>
#include <cstdlib>

#include "conformance/conformance.h"

namespace baton::conformance::fault_test {
namespace {

class Faults : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    // The child starts afresh: no context of a driver survives a fork.
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }

  // For the child: launches what faults, and ends with status 0 where the fault came out as it
  // should.
  template <typename Launch>
  [[noreturn]] void expect_fault(Launch launch) {
    try {
      launch(load("faults.cu"));
      device().synchronize();
    } catch (const Error& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      if (failure.code() != ErrorCode::kFault) std::_Exit(2);
      // From here on the context answers everything with the same error.
      try {
        device().synchronize();
      } catch (const Error& again) {
        std::_Exit(again.code() == ErrorCode::kFault ? 0 : 4);
      }
      std::_Exit(3);
    }
    std::_Exit(1);
  }
};

TEST_F(Faults, WritesFarOutsideAnyMemory) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Buffer<int> target(device(), 16);
                module.kernel("write_at").launch({}, target, 1ll << 40, 1);
                device().synchronize();
              }),
              testing::ExitedWithCode(0), "ILLEGAL_ADDRESS");
}

TEST_F(Faults, NullPointers) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Buffer<int> out(device(), 1);
                module.kernel("read_at").launch({}, out, nullptr, 0ll);
                device().synchronize();
              }),
              testing::ExitedWithCode(0), "ILLEGAL_ADDRESS");
}

TEST_F(Faults, MisalignedAccesses) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Buffer<char> bytes(device(), 64);
                module.kernel("misaligned").launch({}, bytes, 2);
                device().synchronize();
              }),
              testing::ExitedWithCode(0), "MISALIGNED_ADDRESS");
}

TEST_F(Faults, Traps) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                module.kernel("trap_if").launch({}, 0);
                device().synchronize();
                module.kernel("trap_if").launch({}, 1);
                device().synchronize();
              }),
              testing::ExitedWithCode(0), "LAUNCH_FAILED|ILLEGAL_INSTRUCTION");
}

TEST_F(Faults, Assertions) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Kernel kernel = module.kernel("assert_below");
                kernel.launch({.block = 40}, 40);
                device().synchronize();
                kernel.launch({.block = 40}, 39);
                device().synchronize();
              }),
              testing::ExitedWithCode(0), "CUDA_ERROR_ASSERT");
}

TEST_F(Faults, ShowAtTheNextStreamCall) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Buffer<int> target(device(), 16);
                const Stream stream(device());
                module.kernel("write_at").launch({.stream = stream}, target, 1ll << 40, 1);
                stream.synchronize();
              }),
              testing::ExitedWithCode(0), "cuStreamSynchronize");
}

TEST_F(Faults, ALaunchTellsThemApartFromItsOwn) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Buffer<int> target(device(), 16);
                const Kernel add_one = module.kernel("add_one");
                add_one.prepare();
                module.kernel("write_at").launch({}, target, 1ll << 40, 1);
                try {
                  device().synchronize();
                } catch (const Error&) {
                  add_one.launch({}, target);
                }
              }),
              testing::ExitedWithCode(0),
              "of work enqueued before; kernel add_one was not launched");
}

// A kernel that is used for the first time asks the driver for more than a launch.
TEST_F(Faults, AFirstLaunchTellsThemApartToo) {
  EXPECT_EXIT(expect_fault([&](const Module& module) {
                const Buffer<int> target(device(), 16);
                const Kernel add_one = module.kernel("add_one");
                module.kernel("write_at").launch({}, target, 1ll << 40, 1);
                try {
                  device().synchronize();
                } catch (const Error&) {
                  add_one.launch({}, target);
                }
              }),
              testing::ExitedWithCode(0),
              "of work enqueued before; kernel add_one was not launched");
}

}  // namespace
}  // namespace baton::conformance::fault_test
