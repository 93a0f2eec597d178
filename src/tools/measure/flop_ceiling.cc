#include "tools/measure/flop_ceiling.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "baton/buffer.h"
#include "baton/launch_plan.h"
#include "baton/stream.h"
#include "driver/driver.h"

namespace baton::tools {
namespace {

constexpr std::uint32_t kFlopThreads = 256, kWarpThreads = 32;
// Of each kind, the first of which warms up.
constexpr int kFlopRuns = 6;
// Turns of the loop: some milliseconds on a GPU; few on a simulated one.
constexpr std::uint32_t kTurns = 20'000, kSimulatedTurns = 4;
constexpr std::uint32_t kBlocksOfSm = 8, kSimulatedBlocks = 4;

// Eight chains of multiply-adds hide their latency. The sum is stored, so that the
// assembler keeps the chains.
constexpr std::string_view kFmaPtx = R"(.version 7.0
.target sm_75
.address_size 64

.visible .entry baton_fma(.param .u64 out, .param .u32 turns)
{
  .reg .pred %p1;
  .reg .b32 %r<4>;
  .reg .f32 %f<10>;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %tid.x;
  cvt.rn.f32.u32 %f9, %r2;
  mov.f32 %f1, %f9;
  mov.f32 %f2, %f9;
  mov.f32 %f3, %f9;
  mov.f32 %f4, %f9;
  mov.f32 %f5, %f9;
  mov.f32 %f6, %f9;
  mov.f32 %f7, %f9;
  mov.f32 %f8, %f9;
LOOP:
  fma.rn.f32 %f1, %f1, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f2, %f2, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f3, %f3, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f4, %f4, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f5, %f5, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f6, %f6, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f7, %f7, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f8, %f8, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f1, %f1, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f2, %f2, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f3, %f3, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f4, %f4, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f5, %f5, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f6, %f6, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f7, %f7, 0f3F7FFFFE, %f9;
  fma.rn.f32 %f8, %f8, 0f3F7FFFFE, %f9;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  add.f32 %f1, %f1, %f2;
  add.f32 %f3, %f3, %f4;
  add.f32 %f5, %f5, %f6;
  add.f32 %f7, %f7, %f8;
  add.f32 %f1, %f1, %f3;
  add.f32 %f5, %f5, %f7;
  add.f32 %f1, %f1, %f5;
  setp.eq.f32 %p1, %f1, 0fBF800000;
  @%p1 st.global.f32 [%rd1], %f1;
  ret;
}
)";
constexpr double kFmaFlops = 16 * 2;  // of a thread in a turn

constexpr std::string_view kMmaPtx = R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry baton_mma(.param .u64 out, .param .u32 turns)
{
  .reg .pred %p1;
  .reg .b32 %r<8>;
  .reg .f32 %f<20>;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %tid.x;
  mov.b32 %r3, 0;
  mov.b32 %r4, 0;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, %f1;
  mov.f32 %f3, %f1;
  mov.f32 %f4, %f1;
  mov.f32 %f5, %f1;
  mov.f32 %f6, %f1;
  mov.f32 %f7, %f1;
  mov.f32 %f8, %f1;
  mov.f32 %f9, %f1;
  mov.f32 %f10, %f1;
  mov.f32 %f11, %f1;
  mov.f32 %f12, %f1;
  mov.f32 %f13, %f1;
  mov.f32 %f14, %f1;
  mov.f32 %f15, %f1;
  mov.f32 %f16, %f1;
LOOP:
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, %r2}, {%r3, %r2}, {%f1, %f2, %f3, %f4};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r2, %r3, %r4, %r2}, {%r3, %r2}, {%f5, %f6, %f7, %f8};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f9, %f10, %f11, %f12}, {%r2, %r3, %r4, %r2}, {%r3, %r2}, {%f9, %f10, %f11, %f12};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f13, %f14, %f15, %f16}, {%r2, %r3, %r4, %r2}, {%r3, %r2}, {%f13, %f14, %f15, %f16};
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  add.f32 %f1, %f1, %f5;
  add.f32 %f9, %f9, %f13;
  add.f32 %f1, %f1, %f9;
  setp.eq.f32 %p1, %f1, 0fBF800000;
  @%p1 st.global.f32 [%rd1], %f1;
  ret;
}
)";
constexpr double kMmaFlops = 4 * 16 * 8 * 16 * 2 / double{kWarpThreads};  // of a thread in a turn

class FlopMeter {
 public:
  explicit FlopMeter(const Device& device)
      : device_(device),
        simulated_(device.driver().simulator != nullptr),
        stream_(device),
        out_(device, 1),
        begin_(device),
        end_(device) {}

  // Operations a second of a kernel with so many in each turn of a thread.
  double measure(std::string_view ptx, const char* name, double flops) {
    const Module module = Module::load(device_, Image::from_static(ptx, name));
    LaunchConfig config;
    config.grid =
        Dim3(simulated_ ? kSimulatedBlocks : kBlocksOfSm * device_.limits().multiprocessors);
    config.block = Dim3(kFlopThreads);
    config.stream = stream_;
    const std::uint32_t turns = simulated_ ? kSimulatedTurns : kTurns;
    LaunchPlan plan = LaunchPlan::make(module.kernel(), config, out_, turns);
    double best = 0;
    for (int run = 0; run < kFlopRuns; ++run) {
      begin_.record(stream_);
      plan.launch();
      end_.record(stream_);
      stream_.synchronize();
      const double seconds = std::max(elapsed_seconds(begin_, end_), 1e-9);
      best = std::max(
          best, flops * turns * static_cast<double>(config.grid.count()) * kFlopThreads / seconds);
    }
    return best;
  }

 private:
  Device device_;
  bool simulated_;
  Stream stream_;
  Buffer<float> out_;
  Event begin_, end_;
};

}  // namespace

FlopCeiling measure_flop_ceiling(const Device& device) {
  constexpr int kFirstWithMma = 80;
  FlopMeter meter(device);
  FlopCeiling ceiling;
  ceiling.f32 = meter.measure(kFmaPtx, "the ceiling of f32", kFmaFlops);
  if (device.architecture() >= kFirstWithMma) {
    ceiling.f16_mma = meter.measure(kMmaPtx, "the ceiling of mma.sync", kMmaFlops);
  }
  return ceiling;
}

}  // namespace baton::tools
