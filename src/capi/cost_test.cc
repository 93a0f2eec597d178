// What calls of the C interface cost, and what they do without memory.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/counted_costs.h"
#include "capi/call.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"

namespace baton::capi::cost_test {
namespace {

const std::string kKernels = BATON_SOURCE_DIR "/src/session/testdata/kernels.ptx";

const char kProgramText[] = R"toml(
[symbols]
A = 1
[buffers.x]
dtype = "i32"
shape = [64]
role = "inout"
init = "zeros"
[kernels.add]
ptx = "kernels.ptx"
entry = "add"
[[steps]]
launch = "add"
grid = [1]
block = [64]
args = ["x", "A", 64]
)toml";

void expect_success(baton_error* error) {
  EXPECT_EQ(error, nullptr) << baton_error_text(error);
  baton_error_release(error);
}

class CostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!BATON_COUNTS) GTEST_SKIP() << "sanitizers bring an operator new of their own";
    expect_success(baton_device_open("sim:tiny", nullptr, &device_));
    expect_success(baton_module_load_file(device_, kKernels.c_str(), &module_));
    expect_success(baton_kernel_get(module_, "add", &kernel_));
    expect_success(baton_stream_create(device_, 0, &stream_));
    expect_success(baton_memory_alloc(device_, 256, &memory_));
    expect_success(baton_memory_address(memory_, &address_));
    config_.stream = stream_;
    config_.block[0] = 64;
    values_[0] = BATON_POINTER(address_);
    values_[1] = BATON_INT(1);
    values_[2] = BATON_INT(64);
  }
  void TearDown() override {
    baton_memory_release(memory_);
    baton_stream_release(stream_);
    baton_kernel_release(kernel_);
    baton_module_release(module_);
    baton_device_release(device_);
  }

  baton_device* device_ = nullptr;
  baton_module* module_ = nullptr;
  baton_kernel* kernel_ = nullptr;
  baton_stream* stream_ = nullptr;
  baton_memory* memory_ = nullptr;
  void* address_ = nullptr;
  baton_launch_config config_ = BATON_LAUNCH_CONFIG_INIT;
  baton_value values_[3];
};

// Makes each allocation of a call fail, one after the other, until the call gets by without
// failures. It must return an error each time, and change nothing.
void fail_each_allocation(const std::string& what, const std::function<baton_error*()>& call) {
  SCOPED_TRACE(what);
  for (int i = 1; i < 100000; ++i) {
    counted_costs.fails = i;
    baton_error* const error = call();
    const bool failed = counted_costs.fails == 0;
    counted_costs.fails = 0;
    if (error == nullptr) {
      if (!failed) return;  // every allocation was had
      continue;             // the failure did no harm
    }
    EXPECT_TRUE(failed) << baton_error_text(error);
    if (!failed) return baton_error_release(error);
    EXPECT_NE(std::string(baton_error_message(error)), "");
    baton_error_release(error);
  }
  ADD_FAILURE() << "does not end";
}

// Of calls that submit no work: the simulated GPU's own queue needs memory for that.
TEST_F(CostTest, CallsWithoutMemoryReturnAnError) {
  baton_tensor tensor{};
  std::int64_t shape[] = {64};
  std::int32_t contents[64] = {};
  tensor.data = contents;
  tensor.device.device_type = 1;
  tensor.ndim = 1;
  tensor.dtype = {0, 32, 1};
  tensor.shape = shape;

  fail_each_allocation("device_open", [] {
    baton_device* device = nullptr;
    baton_error* const error = baton_device_open("sim:tiny", nullptr, &device);
    EXPECT_EQ(device == nullptr, error != nullptr);
    baton_device_release(device);
    return error;
  });
  fail_each_allocation("module_load", [&] {
    baton_module* module = nullptr;
    baton_error* const error = baton_module_load_file(device_, kKernels.c_str(), &module);
    EXPECT_EQ(module == nullptr, error != nullptr);
    baton_module_release(module);
    return error;
  });
  fail_each_allocation("refused launch", [&] {
    baton_error* const error = baton_kernel_launch(kernel_, &config_, values_, 2);
    EXPECT_NE(error, nullptr);
    // Without a failure it is refused for its own reason, which ends the loop.
    if (counted_costs.fails == 0) return error;
    baton_error_release(error);
    return static_cast<baton_error*>(nullptr);
  });
  fail_each_allocation("plan_create", [&] {
    baton_plan* plan = nullptr;
    baton_error* const error = baton_plan_create(kernel_, &config_, values_, 3, &plan);
    EXPECT_EQ(plan == nullptr, error != nullptr);
    baton_plan_release(plan);
    return error;
  });
  const auto load = [&](baton_program** program) {
    return baton_program_load_text(kProgramText, "p.toml", BATON_SOURCE_DIR "/src/session/testdata",
                                   device_, nullptr, program);
  };
  fail_each_allocation("program_load", [&] {
    baton_program* program = nullptr;
    baton_error* const error = load(&program);
    EXPECT_EQ(program == nullptr, error != nullptr);
    baton_program_release(program);
    return error;
  });
  baton_program* program = nullptr;
  expect_success(load(&program));
  fail_each_allocation("set_int", [&] { return baton_program_set_int(program, "A", 3); });
  fail_each_allocation("set_tensor",
                       [&] { return baton_program_set_tensor(program, "x", &tensor); });
  fail_each_allocation("check", [&] {
    baton_check* check = nullptr;
    baton_error* const error = baton_program_check(program, &check);
    baton_check_release(check);
    return error;
  });
  // It works as before.
  expect_success(baton_program_run(program));
  expect_success(baton_program_output(program, "x", contents, sizeof(contents)));
  EXPECT_EQ(contents[0], 3);
  baton_program_release(program);
}

int launches = 0;
CUcontext context = nullptr;

CUresult count_launch(const CUlaunchConfig*, CUfunction, void**, void**) {
  ++launches;
  return CUDA_SUCCESS;
}
CUresult no_capture(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult get_current(CUcontext* current) {
  *current = context;
  return CUDA_SUCCESS;
}

// A driver table of the test's own leaves out what the simulated GPU's queue costs.
TEST_F(CostTest, AWarmCallAllocatesNothingAndTakesNoLock) {
  const DriverProvider& simulated = driver_providers().back();
  static driver::Driver table = *simulated.driver(nullptr);
  const Device counted =
      DeviceState::handle(DeviceState::acquire(simulated, table, *simulated.ordinal("tiny")));
  context = counted.native_context();
  baton_device* const device = make_handle<baton_device>(counted);
  baton_module* module = nullptr;
  baton_kernel* kernel = nullptr;
  baton_stream* stream = nullptr;
  baton_plan* plan = nullptr;
  baton_program* program = nullptr;
  expect_success(baton_module_load_file(device, kKernels.c_str(), &module));
  expect_success(baton_kernel_get(module, "add", &kernel));
  expect_success(baton_stream_create(device, 0, &stream));
  config_.stream = stream;
  expect_success(baton_plan_create(kernel, &config_, values_, 3, &plan));
  expect_success(baton_program_load_text(
      kProgramText, "p.toml", BATON_SOURCE_DIR "/src/session/testdata", device, nullptr, &program));
  expect_success(baton_program_bind(program));
  expect_success(baton_program_enqueue(program, stream));
  expect_success(baton_program_set_int(program, "A", 7));
  expect_success(baton_program_enqueue(program, stream));
  expect_success(baton_kernel_launch(kernel, &config_, values_, 3));
  expect_success(baton_stream_synchronize(stream));

  const driver::Driver full = table;
  static driver::Driver bare;
  bare.version = full.version;
  bare.cuLaunchKernelEx = count_launch;
  bare.cuStreamIsCapturing = no_capture;
  bare.cuCtxGetCurrent = get_current;
  table = bare;
  launches = 0;
  counted_costs = {};
  baton_error* errors[50] = {};
  for (int i = 0; i < 50; i += 5) {
    errors[i] = baton_kernel_launch(kernel, &config_, values_, 3);
    errors[i + 1] = baton_plan_set(plan, 1, BATON_INT(i));
    errors[i + 2] = baton_plan_launch(plan);
    errors[i + 3] = baton_program_set_int(program, "A", i);
    errors[i + 4] = baton_program_enqueue(program, stream);
  }
  const CountedCosts seen = counted_costs;
  table = full;
  for (baton_error* error : errors) expect_success(error);
  EXPECT_EQ(launches, 30);
  EXPECT_EQ(seen.allocations, 0);
  EXPECT_EQ(seen.locks, 0);

  baton_program_release(program);
  baton_plan_release(plan);
  baton_kernel_release(kernel);
  baton_module_release(module);
  baton_stream_release(stream);
  baton_device_release(device);
  config_.stream = nullptr;
}

}  // namespace
}  // namespace baton::capi::cost_test
