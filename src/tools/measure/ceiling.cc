#include "tools/measure/ceiling.h"

#include <algorithm>

#include "base/error.h"
#include "driver/driver.h"

namespace baton::tools {
namespace {

// Each thread moves four times 16 bytes, a block's threads side by side: enough loads in flight for
// a GPU's memory. Written for the oldest GPU that CUDA 13 serves, compiled by the driver.
constexpr std::uint64_t kThreads = 256;
constexpr std::uint64_t kBlockBytes = kThreads * 4 * 16;
constexpr std::string_view kCopyPtx = R"(.version 7.0
.target sm_75
.address_size 64

.visible .entry baton_copy(.param .u64 to, .param .u64 from)
{
  .reg .b32 %r<20>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd5, %r1, 16384;
  mul.wide.u32 %rd6, %r2, 16;
  add.s64 %rd5, %rd5, %rd6;
  add.s64 %rd3, %rd3, %rd5;
  add.s64 %rd4, %rd4, %rd5;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd4+4096];
  ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd4+8192];
  ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%rd4+12288];
  st.global.v4.u32 [%rd3], {%r4, %r5, %r6, %r7};
  st.global.v4.u32 [%rd3+4096], {%r8, %r9, %r10, %r11};
  st.global.v4.u32 [%rd3+8192], {%r12, %r13, %r14, %r15};
  st.global.v4.u32 [%rd3+12288], {%r16, %r17, %r18, %r19};
  ret;
}
)";

// Of each side: far beyond any cache on a GPU; on a simulated one, which has none, as much as takes
// some milliseconds.
constexpr std::uint64_t kBytes = 512 << 20;
constexpr std::uint64_t kSimulatedBytes = 4 << 20;
constexpr std::uint64_t kLeastBytes = 1 << 20;

}  // namespace

std::uint64_t CopyCeiling::first_size(const Device& device) {
  const bool simulated = device.driver().simulator != nullptr;
  std::uint64_t size = simulated ? kSimulatedBytes : kBytes;
  // The other half of what is free stays so.
  while (size > kLeastBytes && 4 * size > device.free_memory()) size /= 2;
  return size;
}

CopyCeiling::CopyCeiling(const Device& device)
    : device_(device), stream_(device), half_(first_size(device)), begin_(device), end_(device) {
  static_assert(kLeastBytes % kBlockBytes == 0 && kBlockBytes == 16384, "as the kernel has it");
  for (const char* name : {"source of the copy ceiling", "target of the copy ceiling"}) {
    sides_.emplace_back(device, half_).set_name(name);
    sides_.back().fill(0, 4, half_ / 4, 0, stream_);
  }
  const Module module = Module::load(device, Image::from_static(kCopyPtx, "the copy ceiling"));
  LaunchConfig config;
  config.grid = Dim3(static_cast<std::uint32_t>(half_ / kBlockBytes));
  config.block = Dim3(static_cast<std::uint32_t>(kThreads));
  config.stream = stream_;
  launch_.push_back(LaunchPlan::make(module.kernel(), config, sides_[1], sides_[0]));
  measure();
  seconds_.clear();
}

void CopyCeiling::measure() {
  begin_.record(stream_);
  launch_[0].launch();
  end_.record(stream_);
  stream_.synchronize();
  seconds_.push_back(elapsed_seconds(begin_, end_));
}

TimeStatistics CopyCeiling::times() const {
  const auto times = time_statistics(seconds_);
  if (!times) throw error(ErrorCode::kInvalidInput, "the copy ceiling was not measured");
  return *times;
}

double CopyCeiling::bytes_per_second() const {
  return static_cast<double>(bytes()) / std::max(times().median, 1e-9);
}

}  // namespace baton::tools
