// Loading an image and launching from it for the first time, beside the bare driver calls; and
// finding each of a thousand kernels of one image, which should not take longer for the last than
// for the first. Times are medians; the two ways take turns in one run.
//
//   module_load [--device D] [--rounds N]

#include <fmt/core.h>

#include <chrono>

#include "baton/baton.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"

namespace {

using namespace baton;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::string kernels(int count) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format(".visible .entry kernel_{}() {{ ret; }}\n", i);
  return text;
}

double load_with_baton(const Device& device, const Image& image, const Stream& stream) {
  const auto start = Clock::now();
  const Kernel kernel = Module::load(device, image).kernel("kernel_0");
  kernel.launch({.block = 32, .stream = stream});
  stream.synchronize();
  return microseconds_since(start);
}

double load_with_driver(const Device& device, const Image& image, const Stream& stream) {
  const driver::Driver& driver = device.driver();
  const ContextGuard guard(device);
  const auto start = Clock::now();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  BATON_DRIVER_CALL(driver, cuLibraryLoadData, &library, image.bytes().data(), nullptr, nullptr, 0,
                    nullptr, nullptr, 0);
  BATON_DRIVER_CALL(driver, cuLibraryGetKernel, &kernel, library, "kernel_0");
  BATON_DRIVER_CALL(driver, cuKernelGetFunction, &function, kernel);
  BATON_DRIVER_CALL(driver, cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, stream.native(),
                    nullptr, nullptr);
  stream.synchronize();
  const double took = microseconds_since(start);
  BATON_DRIVER_CALL(driver, cuLibraryUnload, library);
  return took;
}

void compare_loading(const Device& device, const Image& image, int rounds) {
  const Stream stream(device);
  std::vector<double> with, without;
  for (int round = -1; round < rounds; ++round) {
    const double a = load_with_baton(device, image, stream);
    const double b = load_with_driver(device, image, stream);
    if (round < 0) continue;
    with.push_back(a);
    without.push_back(b);
  }
  const auto difference = bench::paired_difference(with, without);
  fmt::print(
      "{}: load and first launch: driver {:.0f} us, Baton {:.0f} us, {:+.0f} us [{:+.0f}, "
      "{:+.0f}]\n",
      image.name(), bench::median(without), bench::median(with), difference.median, difference.low,
      difference.high);
}

void find_thousand(const Device& device, const Image& image) {
  const Module module = Module::load(device, image);
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("kernel_{}", i);
    const auto start = Clock::now();
    (void)module.kernel(name);
    times.push_back(microseconds_since(start));
  }
  const auto part = [&](int from) {
    return bench::median({times.begin() + from, times.begin() + from + 100});
  };
  fmt::print(
      "{}: finding a kernel for the first time: {:.2f} us among the first 100, {:.2f} us among the "
      "last\n",
      image.name(), part(0), part(900));
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  const int rounds = options.number("--rounds", 30);
  fmt::print("{} ({})\n", device.spec(), device.name());
  for (const int count : {1, 1000}) {
    const Image image =
        Image::from_bytes(kernels(count), fmt::format("PTX of {} kernel(s)", count));
    compare_loading(device, image, count == 1 ? rounds : rounds / 3 + 1);
  }
  find_thousand(device, Image::from_bytes(kernels(1000), "PTX of 1000 kernels"));
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
