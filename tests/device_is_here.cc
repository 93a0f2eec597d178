#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "baton/device.h"
#include "baton/error.h"

namespace baton {
namespace {

// Skips all tests of a program where BATON_TEST_DEVICE names a GPU that is not here: those too that
// would not use it, and that the simulated GPU's round has.
class DeviceIsHere : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* const spec = std::getenv("BATON_TEST_DEVICE");
    if (spec == nullptr || !std::string_view(spec).starts_with("cuda")) return;
    try {
      Device::open(spec);
    } catch (const Error& failure) {
      std::puts("[  SKIPPED ] all tests");  // what ctest looks for
      GTEST_SKIP() << failure.message();
    }
  }
};

[[maybe_unused]] const auto* const kDeviceIsHere =
    ::testing::AddGlobalTestEnvironment(new DeviceIsHere);

}  // namespace
}  // namespace baton
