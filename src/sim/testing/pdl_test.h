#pragma once

// What the tests of programmatic dependent launch share: kernels, and a fixture that asks for
// findings under every schedule.

#include <algorithm>
#include <map>
#include <string>

#include "sim/testing/driver_test.h"

namespace baton::sim {

inline constexpr char kPdlKernels[] = R"(
.version 8.0
.target sm_90
.address_size 64

// Stores `value` to out[tid] once the dependents may start.
.visible .entry produce(.param .u64 out, .param .u32 value) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  griddepcontrol.launch_dependents;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}

// The same without a trigger.
.visible .entry produce_plainly(.param .u64 out, .param .u32 value) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}

// out[tid] = in[tid] + 1, in four manners. Reads after the wait:
.visible .entry consume(.param .u64 in, .param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  griddepcontrol.wait;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Reads before the wait.
.visible .entry hasty(.param .u64 in, .param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r1, [%rd1];
  griddepcontrol.wait;
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Never waits.
.visible .entry never(.param .u64 in, .param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Only the first warp waits. `ordered` is not zero: a barrier orders the others after it.
.visible .entry one_warp(.param .u64 in, .param .u64 out, .param .u32 ordered) {
  .reg .pred %p<3>;
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r3, [ordered];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra joined;
  griddepcontrol.wait;
joined:
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra compute;
  bar.sync 0;
compute:
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// out[lane] in both warps: the first one waits, and the second one does not, and comes later.
.visible .entry two_warps(.param .u64 out, .param .u32 reads, .param .u32 first_reads) {
  .reg .pred %p<4>;
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r3, [reads];
  mov.u32 %r2, %tid.x;
  and.b32 %r1, %r2, 31;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd1, %rd1, %rd3;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra later;
  griddepcontrol.wait;
  ld.param.u32 %r4, [first_reads];
  setp.ne.u32 %p3, %r4, 0;
  @%p3 ld.global.u32 %r1, [%rd1];
  @!%p3 st.global.u32 [%rd1], 7;
  ret;
later:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 50000;
  @%p1 bra later;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 ld.global.u32 %r1, [%rd1];
  @!%p2 st.global.u32 [%rd1], 8;
  ret;
}

// Sets out[tid] before the wait.
.visible .entry overwrite(.param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  st.global.u32 [%rd1], 7;
  griddepcontrol.wait;
  ret;
}

.visible .entry idle() { griddepcontrol.launch_dependents; ret; }
.visible .entry idle_waiting() {
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ret;
}

// Spins until *flag is set, having triggered.
.visible .entry await_flag(.param .u64 flag) {
  .reg .pred %p;
  .reg .u32 %r<2>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  griddepcontrol.launch_dependents;
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p, %r1, 0;
  @%p bra again;
  ret;
}
.visible .entry set_flag(.param .u64 flag) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  st.volatile.global.u32 [%rd1], 1;
  griddepcontrol.wait;
  ret;
}
)";

inline constexpr Schedule kPdlSchedules[] = {
    {ScheduleKind::kSerial, 0},  {ScheduleKind::kLate, 0},   {ScheduleKind::kEarly, 0},
    {ScheduleKind::kReverse, 0}, {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2},
    {ScheduleKind::kRandom, 3},
};

inline driver::Simulator* find_simulator(const driver::Driver& driver) {
  const void* table = nullptr;
  driver.cuGetExportTable(&table, &driver::kSimulatorUuid);
  return static_cast<driver::Simulator*>(const_cast<void*>(table));
}

class PdlTest : public DriverTest {
 protected:
  static constexpr unsigned kThreads = 64;

  void SetUp() override {
    SIMULATED_ONLY();
    DriverTest::SetUp();
    simulator = find_simulator(driver);
    library = load(kPdlKernels);
    stream = make_stream();
    a = upload(std::vector<std::uint32_t>(kThreads, 5));
    b = upload(std::vector<std::uint32_t>(kThreads, 0));
    c = upload(std::vector<std::uint32_t>(kThreads, 0));
  }
  void TearDown() override {
    if (simulator != nullptr) DriverTest::TearDown();
  }

  static CUlaunchAttribute dependent() {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    return attribute;
  }

  void launch_with(const char* name, std::vector<CUlaunchAttribute> attributes,
                   std::vector<void*> params, CUstream on, unsigned grid = 1) {
    CUlaunchConfig config{};
    config.gridDimX = grid;
    config.blockDimX = kThreads;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchKernelEx(
                                    &config, reinterpret_cast<CUfunction>(kernel(library, name)),
                                    params.data(), nullptr));
  }
  template <class... Args>
  void primary(const char* name, Args... args) {
    launch_with(name, {}, {static_cast<void*>(&args)...}, stream);
  }
  template <class... Args>
  void secondary(const char* name, Args... args) {
    launch_with(name, {dependent()}, {static_cast<void*>(&args)...}, stream);
  }

  // The findings of one run of `program` under each schedule, by kind, with their kernels.
  using Kinds = std::map<std::string, std::string>;
  template <class Program>
  void expect_findings(const Kinds& want, Program program) {
    for (const Schedule& schedule : kPdlSchedules) {
      set_schedule(schedule);
      take_findings();
      program();
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
      Kinds found;
      for (const driver::Finding& finding : take_findings()) {
        found[std::string(to_string(finding.kind))] = finding.kernel;
        last.insert_or_assign(finding.kind, finding);
      }
      EXPECT_EQ(found, want) << to_string(schedule);
    }
  }
  std::vector<std::uint32_t> values(CUdeviceptr address) {
    return download<std::uint32_t>(address, kThreads, stream);
  }
  static std::vector<std::uint32_t> all(std::uint32_t value) {
    return std::vector<std::uint32_t>(kThreads, value);
  }

  driver::Simulator* simulator = nullptr;
  CUlibrary library = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr a = 0, b = 0, c = 0;
  std::map<driver::FindingKind, driver::Finding> last;
};

}  // namespace baton::sim
