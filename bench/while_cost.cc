// What a `while` costs for each iteration, beside the same steps as an unrolled `repeat`: both as
// one graph. An iteration is like a token: a chain of launches that may start early, the last of
// which decides whether the loop goes on. Every sample is checked.
//
//   while_cost [--device D] [--tokens N] [--links N] [--rounds N]
//
// Printed are medians of the rounds in microseconds a token, and the median paired difference to
// the unrolled graph with its 95 % interval. The simulated GPU's times are those of a simulation;
// there the ratio shows what its conditional nodes cost.

#include <fmt/core.h>

#include <string>
#include <vector>

#include "baton/baton.h"
#include "options.h"
#include "paired.h"
#include "turns.h"

namespace {

using namespace baton;

constexpr const char* kSource = R"(
#include <baton/device/pdl.cuh>
extern "C" __global__ void link(int* sum) {
  baton::device::pdl_wait();
  *sum += 1;
}
extern "C" __global__ void count(int* left) {
  baton::device::pdl_wait();
  *left -= 1;
}
)";

struct Arm {
  std::string name;
  int unroll = 0;    // 0: a repeat
  int repeated = 1;  // tokens between two tests
};

Program tokens(const Arm& arm, int count, int links) {
  ProgramBuilder builder("tokens");
  builder.buffer({.name = "left", .dtype = DType::kI32, .shape = {1}});
  builder.buffer({.name = "sum", .dtype = DType::kI32, .shape = {1}});
  for (const char* name : {"link", "count"}) builder.kernel({.name = name, .text = kSource});
  builder.fill({.buffer = "left", .value = Expression(count)});
  builder.fill({.buffer = "sum", .value = Expression(0)});
  const auto token = [&] {
    for (int i = 0; i < links; ++i) {
      builder.launch({.kernel = "link", .grid = {1}, .block = {1}, .args = {"sum"}});
    }
    builder.launch({.kernel = "count", .grid = {1}, .block = {1}, .args = {"left"}});
  };
  if (arm.unroll == 0) {
    builder.repeat(count, "", token);
  } else {
    builder.while_("left", count, arm.unroll, [&] {
      if (arm.repeated == 1) return token();
      builder.repeat(arm.repeated, "", token);
    });
  }
  return builder.build();
}

class Loop {
 public:
  Loop(const Device& device, const Arm& arm, int count, int links)
      : executable_(LoadedProgram::load(tokens(arm, count, links), device), ExecutorKind::kGraph),
        stream_(device),
        begin_(device),
        end_(device),
        want_(count * links) {
    executable_.bind();
    executable_.prepare(stream_);
  }

  double seconds() {
    begin_.record(stream_);
    executable_.enqueue(stream_);
    end_.record(stream_);
    executable_.wait(stream_);
    int sum = 0;
    executable_.memory("sum").download(&sum, sizeof sum, 0, stream_);
    stream_.synchronize();
    if (sum != want_) {
      throw Error(ErrorCode::kFault, fmt::format("the sum is {}, it must be {}", sum, want_));
    }
    return elapsed_seconds(begin_, end_);
  }

 private:
  Executable executable_;
  Stream stream_;
  Event begin_, end_;
  int want_;
};

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  const int count = options.number("--tokens", 1000);
  const int links = options.number("--links", 8);
  const int rounds = options.number("--rounds", 50);
  const std::vector<Arm> arms = {{"unrolled"},
                                 {"while, unroll 1", 1},
                                 {"while, unroll 4", 4},
                                 {"while, unroll 8", 8},
                                 {"while, unroll 16", 16},
                                 {"while, unroll 32", 32},
                                 {"while of repeat 4", 1, 4},
                                 {"while of repeat 8", 1, 8},
                                 {"while of repeat 40", 1, 40}};
  for (const Arm& arm : arms) {
    if (count % arm.repeated == 0) continue;
    throw Error(ErrorCode::kInvalidInput,
                fmt::format("--tokens is {}, it must be a multiple of {}", count, arm.repeated));
  }
  fmt::print("{} ({}), {} tokens of {} launches, {} rounds\n", device.spec(), device.name(), count,
             links + 1, rounds);
  std::vector<Loop> loops;
  for (const Arm& arm : arms) loops.emplace_back(device, arm, count, links);
  auto samples = bench::take_turns(
      arms.size(), rounds, [&](std::size_t arm) { return loops[arm].seconds() * 1e6 / count; });
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    const bench::Paired paired = bench::paired_difference(samples[arm], samples[0]);
    fmt::print("{:18} {:8.3f} us a token, {:+8.3f} [{:+.3f}, {:+.3f}], {:.3f} times\n",
               arms[arm].name, bench::median(samples[arm]), paired.median, paired.low, paired.high,
               bench::median(samples[arm]) / bench::median(samples[0]));
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
