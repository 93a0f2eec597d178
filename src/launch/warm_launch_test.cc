// What a warm launch costs, held exactly: no allocation, no lock, and of the driver one call; two
// more for a default stream where the device's context is current, four where it is not. The
// driver's own share is left out by a table whose launch does nothing and that has nothing else to
// call.

#include <gtest/gtest.h>

#include "base/counted_costs.h"
#include "baton/launch_plan.h"
#include "runtime/context.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"

namespace baton::warm_launch_test {
namespace {

constexpr const char* kKernel = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .f32 k_param_1, .param .u32 k_param_2)
{
  griddepcontrol.wait;
  ret;
}
)";

int launches = 0;
CUresult count_launch(const CUlaunchConfig*, CUfunction, void**, void**) {
  ++launches;
  return CUDA_SUCCESS;
}

int context_calls = 0;
const driver::Driver* real = nullptr;
CUresult count_get_current(CUcontext* context) {
  ++context_calls;
  return real->cuCtxGetCurrent(context);
}
CUresult count_push(CUcontext context) {
  ++context_calls;
  return real->cuCtxPushCurrent(context);
}
CUresult count_pop(CUcontext* context) {
  ++context_calls;
  return real->cuCtxPopCurrent(context);
}

TEST(WarmLaunch, CostsTheDriverCallsAlone) {
  const DriverProvider& simulated = driver_providers().back();
  real = simulated.driver(nullptr);
  // A table of its own for this test: no other test sees what it swaps in and out.
  static driver::Driver table = *real;
  const Device device =
      DeviceState::handle(DeviceState::acquire(simulated, table, *simulated.ordinal("tiny")));
  const Kernel kernel = Module::load(device, Image::from_bytes(kKernel, "kernel.ptx")).kernel("k");
  const Buffer<float> buffer(device, 4);
  const Stream stream(device);
  kernel.launch({.block = 32, .shared = 60000, .stream = stream}, buffer, 1.0f, 2u);
  stream.synchronize();

  const driver::Driver full = table;
  LaunchPlan plan =
      LaunchPlan::make(kernel, {.block = 32, .stream = stream, .attributes = {pdl(), priority(-1)}},
                       buffer, 1.0f, 0u);
  void* const raw_arguments[] = {plan.argument(0).data(), plan.argument(1).data(),
                                 plan.argument(2).data()};
  // Whatever way a launch takes: 100 of them.
  const auto measure = [&](auto launch) {
    static driver::Driver bare;
    bare.version = full.version;
    bare.cuLaunchKernelEx = count_launch;
    bare.cuCtxGetCurrent = count_get_current;
    bare.cuCtxPushCurrent = count_push;
    bare.cuCtxPopCurrent = count_pop;
    table = bare;
    launches = context_calls = 0;
    counted_costs = {};
    for (std::uint32_t i = 0; i < 100; ++i) launch(i);
    const CountedCosts seen = counted_costs;
    table = full;
    EXPECT_EQ(launches, 100);
    EXPECT_EQ(seen.allocations, 0);
    EXPECT_EQ(seen.locks, 0);
  };
  const auto typed = [&](const LaunchConfig::StreamRef& into) {
    return [&](std::uint32_t i) {
      kernel.launch({.grid = i + 1,
                     .block = 32,
                     .shared = 1000 * (i % 60),
                     .stream = into,
                     .attributes = {pdl(), priority(static_cast<int>(i % 3))}},
                    buffer, 1.0f, i);
    };
  };
  measure(typed(stream));
  EXPECT_EQ(context_calls, 0);
  measure([&](std::uint32_t i) {
    plan.set(2, i);
    plan.set_grid(i + 1);
    plan.launch();
  });
  EXPECT_EQ(context_calls, 0);
  measure([&](std::uint32_t i) {
    EXPECT_EQ(kernel.launch_raw({.grid = i + 1, .block = 32, .stream = stream}, raw_arguments), 0);
  });
  EXPECT_EQ(context_calls, 0);
  measure(typed(device));
  EXPECT_EQ(context_calls, 300);
  const ContextGuard guard(device);
  measure(typed(device));
  EXPECT_EQ(context_calls, 100);
}

}  // namespace
}  // namespace baton::warm_launch_test
