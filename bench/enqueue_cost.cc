// The host time of enqueueing a bound program, in turns with the same launches by raw driver calls:
// a loop of cuLaunchKernelEx beside the stream executor, and cuGraphLaunch beside the graph
// executor. A second graph by raw calls shows by how much equal graphs differ. Then the time of
// giving one symbol another value that k of n launches use. Launches are of an empty kernel with
// eight arguments, into an idle stream. Printed are medians and the median paired difference with
// its 95 % interval.
//
//   enqueue_cost [--device D] [--rounds N] [--cold 1]
//
// A sample is at least kCalls calls. `--cold 1`: it is one call, before which other memory has
// replaced the contents of the processor's caches, as an engine's own work does.
// `--device null` needs no GPU: the driver's launch calls do nothing, which leaves Baton's share.

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "driver/driver.h"
#include "null_device.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "turns.h"

namespace {

using namespace baton;
using bench::median;
using bench::paired_difference;

// `n` launches, of which the first `k` use the symbol.
Program chain(int n, int k) {
  ProgramBuilder builder("chain");
  builder.symbol("S", 0);
  builder.kernel({.name = "empty",
                  .origin = KernelOrigin::kPtx,
                  .file = BATON_SOURCE_DIR "/bench/kernels/empty.ptx"});
  for (int i = 0; i < n; ++i) {
    LaunchStep step{.kernel = "empty", .grid = {1}, .block = {32}};
    for (int a = 0; a < 8; ++a) step.args.push_back(TypedValue{DType::kU64, Expression(a)});
    if (i < k) step.args[0] = TypedValue{DType::kU64, Expression("S")};
    builder.launch(step);
  }
  return builder.build();
}

// Of one sample, so that the clock resolves short ones.
constexpr int kCalls = 8, kLaunches = 64;

// Replaces what the caches hold.
void thrash_caches() {
  static std::vector<std::uint64_t> memory(std::size_t{4} << 20);  // 32 MiB
  for (std::size_t i = 0; i < memory.size(); i += 8) ++memory[i];
}

template <typename Work>
double nanoseconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// The same launches by raw driver calls.
class RawLaunches {
 public:
  RawLaunches(const Kernel& kernel, const Stream& stream, int n) : stream_(stream), count_(n) {
    const ContextGuard guard(stream.device());
    function_ = reinterpret_cast<CUfunction>(kernel.native_function());
    config_.gridDimX = config_.gridDimY = config_.gridDimZ = 1;
    config_.blockDimX = 32;
    config_.blockDimY = config_.blockDimZ = 1;
    config_.hStream = stream.native();
    for (std::uint64_t& value : values_) pointers_.push_back(&value);
    const driver::Driver& driver = this->driver();
    BATON_DRIVER_CALL(driver, cuGraphCreate, &graph_, 0);
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function_;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = 32;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = pointers_.data();
    CUgraphNode last = nullptr;
    for (int i = 0; i < n; ++i) {
      CUgraphNode node = nullptr;
      BATON_DRIVER_CALL(driver, cuGraphAddKernelNode, &node, graph_, &last, i == 0 ? 0 : 1,
                        &params);
      last = node;
    }
    BATON_DRIVER_CALL(driver, cuGraphInstantiateWithFlags, &exec_, graph_, 0);
  }
  ~RawLaunches() {
    driver().cuGraphExecDestroy(exec_);
    driver().cuGraphDestroy(graph_);
  }
  RawLaunches(const RawLaunches&) = delete;

  void launch() {
    for (int i = 0; i < count_; ++i) {
      if (driver().cuLaunchKernelEx(&config_, function_, pointers_.data(), nullptr) != 0)
        std::abort();
    }
  }
  void launch_graph() {
    if (driver().cuGraphLaunch(exec_, stream_.native()) != 0) std::abort();
  }

 private:
  const driver::Driver& driver() const { return stream_.device().driver(); }

  const Stream& stream_;
  int count_;
  CUfunction function_ = nullptr;
  CUlaunchConfig config_{};
  std::uint64_t values_[8] = {};
  std::vector<void*> pointers_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

void compare(const char* what, int n, const std::vector<double>& own,
             const std::vector<double>& raw) {
  const bench::Paired paired = paired_difference(own, raw);
  fmt::print(
      "{:16} {:5} launches: raw {:9.0f} ns, enqueue {:9.0f} ns, {:+8.0f} ns [{:+.0f}, {:+.0f}]"
      ", {:.3f} times\n",
      what, n, median(raw), median(own), paired.median, paired.low, paired.high,
      median(own) / median(raw));
}

// Nanoseconds of one call of each way.
std::vector<std::vector<double>> measure_calls(const Stream& stream, int rounds, int calls,
                                               bool cold, std::vector<std::function<void()>> ways) {
  return bench::take_turns(ways.size(), rounds, [&](std::size_t way) {
    stream.synchronize();
    if (cold) thrash_caches();
    return nanoseconds([&] {
             for (int i = 0; i < calls; ++i) ways[way]();
           }) /
           calls;
  });
}

void measure(const Device& device, int n, int rounds, bool cold) {
  const LoadedProgram loaded = LoadedProgram::load(chain(n, 0), device);
  const Stream stream(device);
  Executable on_stream(loaded, ExecutorKind::kStream), on_graph(loaded, ExecutorKind::kGraph);
  for (Executable* executable : {&on_stream, &on_graph}) {
    executable->bind();
    executable->enqueue(stream);
  }
  const ContextGuard guard(device);
  const Kernel kernel = loaded.module("empty").kernel("empty");
  RawLaunches raw(kernel, stream, n), twin(kernel, stream, n);
  const auto launches = measure_calls(stream, rounds, cold ? 1 : std::max(1, kLaunches / n), cold,
                                      {[&] { raw.launch(); }, [&] { on_stream.enqueue(stream); }});
  // Apart from the launches, whose code and data would replace a graph's in the caches.
  const auto graphs =
      measure_calls(stream, rounds, cold ? 1 : std::max(kCalls, kLaunches / n), cold,
                    {[&] { raw.launch_graph(); }, [&] { on_graph.enqueue(stream); },
                     [&] { twin.launch_graph(); }});
  compare("stream executor", n, launches[1], launches[0]);
  compare("graph executor", n, graphs[1], graphs[0]);
  // Two equal graphs differ by this much.
  compare("raw graph again", n, graphs[2], graphs[0]);
}

void measure_set(const Device& device, ExecutorKind kind, int n, int k, int rounds) {
  Executable executable(LoadedProgram::load(chain(n, k), device), kind);
  const Stream stream(device);
  executable.bind();
  executable.enqueue(stream);
  std::int64_t value = 0;
  std::vector<double> samples;
  for (int round = 0; round < rounds; ++round) {
    executable.set("S", ++value);
    executable.prepare(stream);
    samples.push_back(nanoseconds([&] {
      executable.set("S", ++value);
      executable.prepare(stream);
    }));
  }
  fmt::print("set, {} executor: {:5} of {:5} launches: {:9.0f} ns\n",
             kind == ExecutorKind::kStream ? "stream" : "graph ", k, n, median(samples));
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Device device = bench::open_device(options.text("--device", "cuda"));
  const int rounds = options.number("--rounds", 200);
  const bool cold = options.number("--cold", 0) != 0;
  fmt::print("{} ({}), driver of CUDA {}.{}, {} rounds\n", device.spec(), device.name(),
             device.driver_version() / 1000, device.driver_version() % 1000 / 10, rounds);
  for (const int n : {1, 8, 100, 1000}) measure(device, n, rounds, cold);
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    for (const int k : {1, 10, 100, 1000}) measure_set(device, kind, 1000, k, rounds);
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
