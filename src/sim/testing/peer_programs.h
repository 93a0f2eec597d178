#pragma once

#include <fmt/core.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/testing/pdl_test.h"

// Kernels that pass data between two devices by flags, and the devices that run them.
namespace baton::sim::peer_test {

inline constexpr unsigned kThreads = 64;

// How a thread tells what the block did, and how one learns it. PTX of thread 0.
struct PeerFlag {
  const char* release = "st.release.sys.global.u32 [%flag], %epoch;";
  const char* acquire = "ld.acquire.sys.global.u32 %seen, [%flag];";
  const char* behind = "";             // the loop that reads the flag
  const char* before = "";             // the stores of data
  const char* joins = "bar.sync 0;";   // between the data and the release
  const char* leaves = "bar.sync 0;";  // between the acquire and the data
};

inline std::string kernels(const PeerFlag& flag) {
  static constexpr char kText[] = R"(
.version 8.0
.target sm_90
.address_size 64

// slot[tid] = value + tid, and then the flag.
.visible .entry put(.param .u64 slot, .param .u64 flag, .param .u32 value, .param .u32 epoch) {{
  .reg .pred %first;
  .reg .u32 %tid, %value, %epoch;
  .reg .u64 %slot, %flag, %at;
  ld.param.u64 %slot, [slot];
  ld.param.u64 %flag, [flag];
  ld.param.u32 %value, [value];
  ld.param.u32 %epoch, [epoch];
  mov.u32 %tid, %tid.x;
  setp.eq.u32 %first, %tid, 0;
  mul.wide.u32 %at, %tid, 4;
  add.u64 %slot, %slot, %at;
  add.u32 %value, %value, %tid;
  {before}
  st.global.u32 [%slot], %value;
  {joins}
  @!%first bra done;
  {release}
done:
  ret;
}}

// Waits for the flag; out[tid] = slot[tid].
.visible .entry get(.param .u64 slot, .param .u64 flag, .param .u64 out, .param .u32 epoch) {{
  .reg .pred %first, %late;
  .reg .u32 %tid, %value, %epoch, %seen;
  .reg .u64 %slot, %flag, %out, %at;
  ld.param.u64 %slot, [slot];
  ld.param.u64 %flag, [flag];
  ld.param.u64 %out, [out];
  ld.param.u32 %epoch, [epoch];
  mov.u32 %tid, %tid.x;
  setp.eq.u32 %first, %tid, 0;
  mul.wide.u32 %at, %tid, 4;
  add.u64 %slot, %slot, %at;
  add.u64 %out, %out, %at;
  @!%first bra met;
again:
  {acquire}
  setp.lt.u32 %late, %seen, %epoch;
  @%late bra again;
  {behind}
met:
  {leaves}
  ld.global.u32 %value, [%slot];
  st.global.u32 [%out], %value;
  ret;
}}

// An all-reduce of two devices: x[tid] += the other one's x[tid]. Slots follow each other by
// kThreads words, and the epoch chooses one of mask + 1.
.visible .entry exchange(.param .u64 x, .param .u64 slots, .param .u64 peer_slots,
                         .param .u64 own_flag, .param .u64 peer_flag, .param .u32 epoch,
                         .param .u32 mask) {{
  .reg .pred %first, %late;
  .reg .u32 %tid, %value, %other, %epoch, %mask, %seen, %shift;
  .reg .u64 %x, %slot, %peer, %own_flag, %flag, %at;
  ld.param.u64 %x, [x];
  ld.param.u64 %slot, [slots];
  ld.param.u64 %peer, [peer_slots];
  ld.param.u64 %own_flag, [own_flag];
  ld.param.u64 %flag, [peer_flag];
  ld.param.u32 %epoch, [epoch];
  ld.param.u32 %mask, [mask];
  mov.u32 %tid, %tid.x;
  setp.eq.u32 %first, %tid, 0;
  mul.wide.u32 %at, %tid, 4;
  add.u64 %x, %x, %at;
  and.b32 %mask, %epoch, %mask;
  mad.wide.u32 %at, %mask, 256, %at;
  add.u64 %slot, %slot, %at;
  add.u64 %peer, %peer, %at;
  ld.global.u32 %value, [%x];
  st.global.u32 [%peer], %value;
  {joins}
  @!%first bra met;
  {release}
  mov.u64 %flag, %own_flag;
again:
  {acquire}
  setp.lt.u32 %late, %seen, %epoch;
  @%late bra again;
  {behind}
met:
  {leaves}
  ld.global.u32 %other, [%slot];
  add.u32 %value, %value, %other;
  st.global.u32 [%x], %value;
  ret;
}}

// out[tid] = in[tid]
.visible .entry take(.param .u64 in, .param .u64 out) {{
  .reg .u32 %tid, %value;
  .reg .u64 %in, %out, %at;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %tid, %tid.x;
  mul.wide.u32 %at, %tid, 4;
  add.u64 %in, %in, %at;
  add.u64 %out, %out, %at;
  ld.global.u32 %value, [%in];
  st.global.u32 [%out], %value;
  ret;
}}

// Each adds to word[0].
.visible .entry adds_for_system(.param .u64 word) {{
  .reg .u64 %word;
  ld.param.u64 %word, [word];
  red.relaxed.sys.global.add.u32 [%word], 1;
  ret;
}}
.visible .entry adds_for_device(.param .u64 word) {{
  .reg .u64 %word;
  ld.param.u64 %word, [word];
  red.relaxed.gpu.global.add.u32 [%word], 1;
  ret;
}}
.visible .entry adds_for_either(.param .u64 word) {{
  .reg .u64 %word;
  ld.param.u64 %word, [word];
  red.relaxed.sys.global.add.u32 [%word], 1;
  red.relaxed.gpu.global.add.u32 [%word], 1;
  ret;
}}
.visible .entry adds_by_copy(.param .u64 word) {{
  .reg .pred %other;
  .reg .u32 %tid, %data;
  .reg .u64 %word;
  .shared .align 16 .b32 data[4];
  ld.param.u64 %word, [word];
  mov.u32 %tid, %tid.x;
  setp.ne.u32 %other, %tid, 0;
  @%other bra done;
  mov.u32 %data, data;
  st.shared.v4.u32 [%data], {{%tid, %tid, %tid, %tid}};
  fence.proxy.async.shared::cta;
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%word], [%data], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
done:
  ret;
}}
)";
  return fmt::format(kText, fmt::arg("release", flag.release), fmt::arg("acquire", flag.acquire),
                     fmt::arg("behind", flag.behind), fmt::arg("before", flag.before),
                     fmt::arg("joins", flag.joins), fmt::arg("leaves", flag.leaves));
}

// Two devices of one kind, each of which may access the other's memory.
class PeerTest : public testing::Test {
 protected:
  struct Rank {
    CUdevice device = 0;
    CUcontext context = nullptr;
    CUstream stream = nullptr, other = nullptr;
    CUdeviceptr x = 0, slots = 0, flag = 0, out = 0;
    std::unique_ptr<driver::Simulator::Session> session;
  };

  void SetUp() override {
    SIMULATED_ONLY();
    ranks_[0].device = *simulated_ordinal("h200");
    ranks_[1].device = *simulated_ordinal("h200:1");
    for (Rank& rank : ranks_) {
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&rank.context, rank.device));
      make_current(rank);
      for (CUstream* stream : {&rank.stream, &rank.other}) {
        EXPECT_RESULT(CUDA_SUCCESS,
                      driver.cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, 0));
      }
      for (CUdeviceptr* buffer : {&rank.x, &rank.slots, &rank.flag, &rank.out}) {
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAlloc(buffer, 4 * kThreads * 4));
      }
    }
  }
  void TearDown() override {
    for (Rank& rank : ranks_) {
      if (rank.context == nullptr) continue;
      rank.session.reset();
      make_current(rank);
      if (library_ != nullptr) driver.cuLibraryUnload(std::exchange(library_, nullptr));
      driver.cuDevicePrimaryCtxRelease(rank.device);
    }
    driver.cuCtxSetCurrent(nullptr);
  }

  void make_current(const Rank& rank) {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(rank.context));
  }
  void connect() {
    for (int k : {0, 1}) {
      make_current(ranks_[k]);
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxEnablePeerAccess(ranks_[1 - k].context, 0));
    }
  }
  void load(const PeerFlag& flag) {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryLoadData(&library_, kernels(flag).c_str(), nullptr,
                                                         nullptr, 0, nullptr, nullptr, 0));
  }

  template <class... Args>
  void launch(const Rank& rank, const char* name, Args... args) {
    launch_on(rank, rank.stream, name, args...);
  }
  template <class... Args>
  void launch_on(const Rank& rank, CUstream stream, const char* name, Args... args) {
    make_current(rank);
    CUkernel kernel = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryGetKernel(&kernel, library_, name));
    void* params[] = {static_cast<void*>(&args)...};
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1,
                                                      kThreads, 1, 1, 0, stream, params, nullptr));
  }
  void synchronize() {
    for (const Rank& rank : ranks_) {
      make_current(rank);
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
    }
  }
  void fill(const Rank& rank, CUdeviceptr buffer, std::uint32_t value) {
    make_current(rank);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(buffer, value, 4 * kThreads, rank.stream));
  }
  std::vector<std::uint32_t> values(const Rank& rank, CUdeviceptr buffer) {
    make_current(rank);
    std::vector<std::uint32_t> values(kThreads);
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuMemcpyDtoHAsync(values.data(), buffer, kThreads * 4, rank.stream));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(rank.stream));
    return values;
  }

  using Kinds = std::set<std::string>;
  // Runs `program` under each schedule, with all buffers zero before, and expects findings. A
  // program with a race need not show each of `want`, but some of it, and nothing else.
  template <class Program>
  void expect(const Kinds& want, Program program) {
    for (const Schedule& schedule : kPdlSchedules) {
      SCOPED_TRACE(to_string(schedule));
      for (Rank& rank : ranks_) {
        rank.session.reset();
        rank.session = driver.simulator->begin(
            rank.context, {.schedule = schedule, .watch = driver::Simulator::Watch::kOn});
        for (CUdeviceptr buffer : {rank.slots, rank.flag, rank.out}) fill(rank, buffer, 0);
      }
      fill(ranks_[0], ranks_[0].x, 1);
      fill(ranks_[1], ranks_[1].x, 2);
      synchronize();
      program();
      synchronize();
      Kinds found;
      std::string text;
      for (Rank& rank : ranks_) {
        for (const driver::Finding& finding : rank.session->take_findings()) {
          found.emplace(to_string(finding.kind));
          text += "\n  " + finding.kernel + ": " + finding.message;
          last_ = finding;
        }
      }
      EXPECT_EQ(found.empty(), want.empty()) << text;
      for (const std::string& kind : found) EXPECT_TRUE(want.contains(kind)) << text;
    }
  }

  // Device 1 puts into a slot of device 0, which waits for the flag.
  void pass_once() {
    const Rank& reader = ranks_[0];
    launch(reader, "get", reader.slots, reader.flag, reader.out, 1u);
    launch(ranks_[1], "put", reader.slots, reader.flag, 7u, 1u);
  }
  // `times` all-reduces, one after the other, with the epochs that `epoch_of` gives them.
  template <class EpochOf>
  void reduce(unsigned times, std::uint32_t mask, EpochOf epoch_of) {
    for (unsigned k = 0; k < times; ++k) {
      for (int r : {0, 1}) {
        const Rank& own = ranks_[r];
        const Rank& peer = ranks_[1 - r];
        launch(own, "exchange", own.x, own.slots, peer.slots, own.flag, peer.flag,
               std::uint32_t{epoch_of(k)}, mask);
      }
    }
  }

  const driver::Driver& driver = driver_under_test();
  Rank ranks_[2];
  CUlibrary library_ = nullptr;
  driver::Finding last_{driver::FindingKind::kTrap};
};

}  // namespace baton::sim::peer_test
