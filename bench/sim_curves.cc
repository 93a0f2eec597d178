// How the simulated GPU grows: with the blocks of a grid, the grids in flight and the nodes of a
// graph. Each line should cost as much apiece as the one above it. Times are of the processor, over
// all threads, and medians.
//
//   sim_curves [--device sim] [--rounds 3] [--blocks 1000000] [--grids 10] [--nodes 10000]

#include <fmt/core.h>

#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "driver/simulator.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"

namespace {

using namespace baton;

constexpr unsigned kThreads = 64;
constexpr std::size_t kElements = std::size_t{1} << 20;

// y[i mod 2^20] += turns, through shared memory, one addition a turn.
constexpr char kText[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry work(.param .u64 y, .param .u32 turns) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  .reg .f32 %f<3>;
  .shared .align 4 .b8 stage[256];
  ld.param.u64 %d0, [y];
  ld.param.u32 %r0, [turns];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 64, %r2;
  and.b32 %r3, %r3, 0xfffff;
  mul.wide.u32 %d1, %r3, 4;
  add.u64 %d0, %d0, %d1;
  ld.global.f32 %f0, [%d0];
more:
  add.f32 %f0, %f0, 0f3f800000;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p, %r0, 0;
  @%p bra more;
  mov.u32 %r4, stage;
  mad.lo.u32 %r5, %r2, 4, %r4;
  st.shared.f32 [%r5], %f0;
  bar.sync 0;
  ld.shared.f32 %f1, [%r5];
  st.global.f32 [%d0], %f1;
  ret;
}
)";

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(int rounds, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const double start = processor_seconds();
    work();
    times.push_back(processor_seconds() - start);
  }
  return bench::median(times);
}

// The most memory that the process ever held.
double peak_mebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes / 1024;
  }
  return 0;
}

struct Curves {
  Device device;
  Buffer<float> y{device, kElements};
  Kernel kernel = Module::load(device, Image::from_bytes(kText, "sim_curves.ptx")).kernel("work");
  int rounds;

  Curves(const std::string& spec, int count) : device(Device::open(spec)), rounds(count) {
    y.upload(std::vector<float>(kElements, 0.0f));
    // Grids in flight write the same numbers, which is a finding and not the matter here.
    device.set_finding_policy(FindingPolicy::kCollect);
  }

  void launch(const Stream& stream, unsigned blocks, unsigned turns) const {
    kernel.launch({.grid = blocks, .block = kThreads, .stream = stream}, y, turns);
  }

  void count_blocks(unsigned most) const {
    const Stream stream(device);
    fmt::print(
        "\n| blocks | ms | ns a block | peak of the process, MiB |\n| --- | --- | --- | --- |\n");
    for (unsigned blocks = 1000; blocks <= most; blocks *= 10) {
      const double took = seconds_of(rounds, [&] {
        launch(stream, blocks, 8);
        stream.synchronize();
      });
      fmt::print("| {} | {:.2f} | {:.0f} | {:.0f} |\n", blocks, took * 1e3, took / blocks * 1e9,
                 peak_mebibytes());
    }
  }

  // Grids that each have work of their own take turns, by a schedule that lets all of them run.
  void count_grids(int most) const {
    std::vector<Stream> streams;
    for (int k = 0; k < most; ++k) streams.emplace_back(device);
    fmt::print("\n| grids in flight | ms | ms a grid |\n| --- | --- | --- |\n");
    for (int grids = 1; grids <= most; ++grids) {
      const double took = seconds_of(rounds, [&] {
        for (int k = 0; k < grids; ++k) launch(streams[static_cast<std::size_t>(k)], 256, 4000);
        for (int k = 0; k < grids; ++k) streams[static_cast<std::size_t>(k)].synchronize();
        device.findings();
      });
      fmt::print("| {} | {:.2f} | {:.2f} |\n", grids, took * 1e3, took / grids * 1e3);
    }
  }

  // Gives every node of the executable graph its parameters anew.
  void update_nodes(const driver::Driver& driver, CUgraph graph, CUgraphExec exec,
                    std::size_t count) const {
    std::vector<CUgraphNode> nodes(count);
    BATON_DRIVER_CALL(driver, cuGraphGetNodes, graph, nodes.data(), &count);
    std::uint64_t address = y.memory().address();
    unsigned turns = 1;
    void* arguments[] = {&address, &turns};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = kernel.native_function();
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = kThreads;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    for (const CUgraphNode node : nodes) {
      BATON_DRIVER_CALL(driver, cuGraphExecKernelNodeSetParams, exec, node, &params);
    }
  }

  void count_nodes(unsigned most) const {
    const driver::Driver& driver = device.driver();
    const ContextGuard guard(device);
    const Stream stream(device);
    fmt::print(
        "\n| nodes | capture, us a node | instantiate, us a node | update, us a node | run, us a "
        "node "
        "| peak, MiB |\n| --- | --- | --- | --- | --- | --- |\n");
    for (unsigned nodes = 10; nodes <= most; nodes *= 10) {
      CUgraph graph = nullptr;
      CUgraphExec exec = nullptr;
      const double start = processor_seconds();
      BATON_DRIVER_CALL(driver, cuStreamBeginCapture, stream.native(),
                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
      for (unsigned k = 0; k < nodes; ++k) launch(stream, 1, 1);
      BATON_DRIVER_CALL(driver, cuStreamEndCapture, stream.native(), &graph);
      const double captured = processor_seconds();
      BATON_DRIVER_CALL(driver, cuGraphInstantiateWithFlags, &exec, graph, 0);
      const double made = processor_seconds();
      update_nodes(driver, graph, exec, nodes);
      const double updated = processor_seconds();
      const double took = seconds_of(rounds, [&] {
        BATON_DRIVER_CALL(driver, cuGraphLaunch, exec, stream.native());
        stream.synchronize();
      });
      fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} |\n", nodes,
                 (captured - start) / nodes * 1e6, (made - captured) / nodes * 1e6,
                 (updated - made) / nodes * 1e6, took / nodes * 1e6, peak_mebibytes());
      BATON_DRIVER_CALL(driver, cuGraphExecDestroy, exec);
      BATON_DRIVER_CALL(driver, cuGraphDestroy, graph);
    }
  }
};

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Curves curves(options.text("--device", "sim"), options.number("--rounds", 3));
  curves.count_blocks(static_cast<unsigned>(options.number("--blocks", 1'000'000)));
  curves.count_nodes(static_cast<unsigned>(options.number("--nodes", 10'000)));
  std::unique_ptr<driver::Simulator::Session> session;
  if (driver::Simulator* simulator = curves.device.driver().simulator) {
    const ContextGuard guard(curves.device);
    session = simulator->begin(curves.device.native_context(),
                               {.schedule = Schedule{ScheduleKind::kReverse, 0}});
  }
  curves.count_grids(options.number("--grids", 10));
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
