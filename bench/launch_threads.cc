// Eight threads that launch one kernel, into one stream and into a stream each: Baton's typed
// launch beside cuLaunchKernelEx, in turn, in one run. A sample is 64 launches a thread from a
// common start; printed are medians of the host time a launch, and the median paired difference
// with its 95 % interval.
//
//   launch_threads [--device D] [--rounds N]

#include <fmt/core.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <deque>
#include <functional>
#include <thread>

#include "baton/baton.h"
#include "options.h"
#include "paired.h"
#include "runtime/device_state.h"

namespace {

using namespace baton;

constexpr int kThreads = 8;
constexpr int kLaunches = 64;  // a thread's share of a sample
constexpr const char* kKernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry empty(.param .u64 empty_param_0, .param .f32 empty_param_1) { ret; }
)";

// Nanoseconds a launch, all threads together.
double sample(const std::function<void(int thread)>& launch) {
  std::atomic<long long> total = 0;
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < kLaunches; ++i) launch(t);
      total += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(total) / (kThreads * kLaunches);
}

void compare(const Device& device, const Kernel& kernel, bool one_stream, int rounds) {
  std::deque<Stream> streams;
  for (int t = 0; t < kThreads; ++t) streams.emplace_back(device);
  const Buffer<float> buffer(device, 1);
  const auto stream = [&](int thread) -> const Stream& {
    return streams[static_cast<std::size_t>(one_stream ? 0 : thread)];
  };
  const auto typed = [&](int thread) {
    kernel.launch({.block = 32, .stream = stream(thread)}, buffer, 1.0f);
  };
  const CUfunction function = kernel.native_function();
  const auto raw = [&](int thread) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream(thread).native();
    DeviceAddress address = buffer.data().address;
    float value = 1;
    void* arguments[] = {&address, &value};
    device.driver().cuLaunchKernelEx(&config, function, arguments, nullptr);
  };
  std::vector<double> with, without;
  for (int round = -2; round < rounds; ++round) {
    const bool first = round % 2 == 0;
    const double a = first ? sample(typed) : sample(raw);
    device.synchronize();
    const double b = first ? sample(raw) : sample(typed);
    device.synchronize();
    if (round < 0) continue;
    with.push_back(first ? a : b);
    without.push_back(first ? b : a);
  }
  const auto difference = bench::paired_difference(with, without);
  fmt::print(
      "{}: cuLaunchKernelEx {:.0f} ns, Baton typed {:.0f} ns, {:+.1f} ns [{:+.1f}, {:+.1f}]\n",
      one_stream ? "one stream" : "a stream each", bench::median(without), bench::median(with),
      difference.median, difference.low, difference.high);
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  const int rounds = options.number("--rounds", 200);
  const Kernel kernel = Module::load(device, Image::from_bytes(kKernel, "empty.ptx")).kernel();
  kernel.prepare();
  fmt::print("{} ({}), {} threads, {} rounds of {} launches each\n", device.spec(), device.name(),
             kThreads, rounds, kLaunches);
  compare(device, kernel, true, rounds);
  compare(device, kernel, false, rounds);
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
