// The host time of binding a program: the first time, again with the same symbols, and again with
// another value of one symbol that its launches use. Beside it the time of a later run of the bound
// program, which evaluates nothing again; on a simulated GPU that includes the kernels. The program
// is a chain of layers; each launch has two buffers at the offset of its layer, and a scalar.
// Kernels wait (their edges are proven) or do not (their edges are full). Times are medians.
//
//   bind_cost [--device D] [--layers L] [--launches N] [--rounds R]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "options.h"

namespace {

using namespace baton;
using Clock = std::chrono::steady_clock;

constexpr int kElements = 32;  // of a layer

// `waits`: kernels wait for the launch before them, so that each edge is proven.
Program chain(int layers, int launches, bool waits) {
  const std::string wait = waits ? "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");" : "";
  ProgramBuilder builder("chain");
  builder.symbol("L", layers);
  builder.symbol("POS", 0);
  for (const char* name : {"x", "y"}) {
    builder.buffer({.name = name,
                    .dtype = DType::kI32,
                    .shape = {Expression(std::string("L*32"))},
                    .role = BufferRole::kInout,
                    .init = BufferInit::kZeros});
  }
  builder.kernel({.name = "step",
                  .text = fmt::format("extern \"C\" __global__ void step(const int* from, int* to, "
                                      "int position) {{ {} to[threadIdx.x] = from[threadIdx.x] + "
                                      "position; }}",
                                      wait)});
  builder.repeat(Expression(std::string("L")), "l", [&] {
    for (int i = 0; i < launches; ++i) {
      const std::string from = i % 2 == 0 ? "x + 32*l" : "y + 32*l";
      const std::string to = i % 2 == 0 ? "y + 32*l" : "x + 32*l";
      builder.launch({.kernel = "step",
                      .grid = {1},
                      .block = {kElements},
                      .args = {from, to, std::string("POS")}});
    }
  });
  return builder.build();
}

template <typename Work>
double median_microseconds(int rounds, Work&& work) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    work(round);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void measure(const Device& device, int layers, int launches, bool waits, int rounds) {
  const LoadedProgram loaded = LoadedProgram::load(chain(layers, launches, waits), device);
  const double first = median_microseconds(rounds, [&](int) { Executable(loaded).bind(); });
  Executable executable(loaded);
  executable.bind();
  const double same = median_microseconds(rounds, [&](int) { executable.bind(); });
  const double bind = median_microseconds(rounds, [&](int round) {
    executable.bind({.symbols = {{"POS", round + 1}}});
  });
  const double check = median_microseconds(rounds, [&](int round) {
    loaded.check({.symbols = {{"POS", round + 1}}});
  });
  executable.run({.time_steps = false});
  const double run =
      median_microseconds(rounds, [&](int) { executable.run({.time_steps = false}); });
  fmt::print(
      "{:4} launches, edges {:7}: bind {:8.1f} us, again {:8.1f} us, with another symbol "
      "{:8.1f} us ({:.2f} us a launch), check {:8.1f} us, run again {:8.1f} us\n",
      layers * launches, waits ? "proven" : "full", first, same, bind, bind / (layers * launches),
      check, run);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "sim"));
  const int layers = options.number("--layers", 68);
  const int launches = options.number("--launches", 13);
  const int rounds = options.number("--rounds", 21);
  fmt::print("{}\n", device.name());
  for (const bool waits : {false, true}) measure(device, layers, launches, waits, rounds);
}
