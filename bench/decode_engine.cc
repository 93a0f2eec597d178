// The engine of examples/decode_loop beside the same engine by raw driver calls: three sequences on
// three streams, each with its own caches, and nothing on the host but submitting token after
// token. Arms take turns; the tokens of every sample are compared with those of the first arm.
//
//   decode_engine [--device D] [--tokens N] [--rounds N]
//
// Printed are medians of the rounds in microseconds a token: of submitting, and until all sequences
// are done. Differences are paired, to the raw calls of the same kind, with a 95 % interval.

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "driver/driver.h"
#include "options.h"
#include "paired.h"
#include "runtime/context.h"
#include "turns.h"

namespace {

using namespace baton;

constexpr unsigned kHidden = 64, kVocabulary = 256;  // K and V of the program
constexpr int kSequences = 3;
using Tokens = std::vector<std::int32_t>;

// One sequence, in whatever way.
class Sequence {
 public:
  virtual ~Sequence() = default;
  // Enqueues the beginning of a text.
  virtual void restart() = 0;
  virtual void decode() = 0;
  // Waits. Returns the tokens so far.
  virtual Tokens tokens(std::size_t count) = 0;
};

class OwnSequence : public Sequence {
 public:
  OwnSequence(const LoadedProgram& program, ExecutorKind executor, std::int32_t first)
      : stream_(program.device()), program_(program, executor), first_(first) {
    program_.bind();
    program_.initialise(stream_);
    program_.prepare(stream_);
  }

  void restart() override {
    for (const char* state : {"keys", "values", "position", "tokens"}) {
      program_.reset(state, stream_);
    }
    program_.memory("token").upload(&first_, sizeof first_, 0, stream_);
  }
  void decode() override { program_.enqueue(stream_); }
  Tokens tokens(std::size_t count) override {
    Tokens tokens(count);
    program_.memory("tokens").download(tokens.data(), count * sizeof tokens[0], 0, stream_);
    program_.wait(stream_);
    return tokens;
  }

 private:
  Stream stream_;
  Executable program_;
  std::int32_t first_;
};

enum class Form { kStream, kEarlyStream, kGraph, kEarlyGraph };

// The launches of decode_loop.toml by hand. The weights are those of a bound program.
class RawSequence : public Sequence {
 public:
  RawSequence(const Executable& bound, Form form, std::int32_t first)
      : stream_(bound.device()), driver_(bound.device().driver()), first_(first) {
    const ContextGuard guard(bound.device());
    const std::size_t rows = static_cast<std::size_t>(bound.shape("tokens")[0]);
    const std::size_t row = kHidden * sizeof(float);
    for (const std::size_t bytes : {rows * row, rows * row, std::size_t{4}, std::size_t{4},
                                    rows * 4, row, row, kVocabulary * sizeof(float)}) {
      memory_.emplace_back(bound.device(), bytes);
      addresses_.push_back(memory_.back().address());
    }
    enum { kKeys, kValues, kToken, kPosition, kTokens, kQuery, kAttended, kLogits };
    const auto at = [&](int buffer) { return addresses_[static_cast<std::size_t>(buffer)]; };
    const auto weight = [&](const char* name) { return bound.memory(name).address(); };
    const bool early = form == Form::kEarlyStream || form == Form::kEarlyGraph;
    add(bound, "project", 3 * kHidden / 8, 256, 0, early,
        {weight("packed"), weight("embedding"), at(kToken), at(kPosition), at(kQuery), at(kKeys),
         at(kValues), kHidden});
    add(bound, "attend", 1, 128, static_cast<unsigned>(4 * rows), early,
        {at(kQuery), at(kKeys), at(kValues), at(kPosition), at(kAttended), kHidden});
    add(bound, "score", kVocabulary / 8, 256, 0, early,
        {weight("head"), at(kAttended), at(kLogits), kVocabulary, kHidden});
    add(bound, "choose", 1, 32, 0, early,
        {at(kLogits), at(kToken), at(kPosition), at(kTokens), kVocabulary});
    if (form == Form::kGraph || form == Form::kEarlyGraph) capture();
  }
  ~RawSequence() override {
    if (exec_ != nullptr) driver_.cuGraphExecDestroy(exec_);
    if (graph_ != nullptr) driver_.cuGraphDestroy(graph_);
  }
  RawSequence(const RawSequence&) = delete;

  void restart() override {
    const ContextGuard guard(stream_.device());
    for (const std::size_t buffer : {0, 1, 3, 4}) {
      BATON_DRIVER_CALL(driver_, cuMemsetD32Async, addresses_[buffer], 0,
                        memory_[buffer].bytes() / 4, stream_.native());
    }
    memory_[2].upload(&first_, sizeof first_, 0, stream_);
  }
  void decode() override {
    if (exec_ != nullptr) {
      BATON_DRIVER_CALL(driver_, cuGraphLaunch, exec_, stream_.native());
    } else {
      launch();
    }
  }
  Tokens tokens(std::size_t count) override {
    Tokens tokens(count);
    memory_[4].download(tokens.data(), count * sizeof tokens[0], 0, stream_);
    stream_.synchronize();
    return tokens;
  }

 private:
  struct Launch {
    CUfunction function;
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    std::array<std::uint64_t, 8> values;
    std::array<void*, 8> pointers;
  };

  void add(const Executable& bound, const char* kernel, unsigned grid, unsigned block,
           unsigned shared, bool early, std::vector<std::uint64_t> values) {
    Launch& launch = launches_.emplace_back();
    launch.function =
        reinterpret_cast<CUfunction>(bound.module(kernel).kernel(kernel).native_function());
    launch.config.gridDimX = grid;
    launch.config.blockDimX = block;
    launch.config.gridDimY = launch.config.gridDimZ = 1;
    launch.config.blockDimY = launch.config.blockDimZ = 1;
    launch.config.sharedMemBytes = shared;
    launch.config.hStream = stream_.native();
    launch.attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    launch.attribute.value.programmaticStreamSerializationAllowed = 1;
    launch.config.attrs = &launch.attribute;
    launch.config.numAttrs = early ? 1 : 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      launch.values[i] = values[i];
      launch.pointers[i] = &launch.values[i];
    }
  }
  void launch() {
    for (Launch& launch : launches_) {
      BATON_DRIVER_CALL(driver_, cuLaunchKernelEx, &launch.config, launch.function,
                        launch.pointers.data(), nullptr);
    }
  }
  void capture() {
    BATON_DRIVER_CALL(driver_, cuStreamBeginCapture, stream_.native(),
                      CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    launch();
    BATON_DRIVER_CALL(driver_, cuStreamEndCapture, stream_.native(), &graph_);
    BATON_DRIVER_CALL(driver_, cuGraphInstantiateWithFlags, &exec_, graph_, 0);
  }

  Stream stream_;
  const driver::Driver& driver_;
  std::int32_t first_;
  std::deque<Memory> memory_;
  std::vector<DeviceAddress> addresses_;
  std::deque<Launch> launches_;  // which point into themselves
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

struct Arm {
  const char* name;
  std::size_t raw;  // the arm that it is compared with
  std::function<std::unique_ptr<Sequence>(std::int32_t first)> make;
  std::vector<std::unique_ptr<Sequence>> sequences = {};
};

struct Sample {
  double submitted, done;  // microseconds a token
};

Sample run(Arm& arm, int count, std::vector<Tokens>& want) {
  using Clock = std::chrono::steady_clock;
  const auto since = [count](Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / count;
  };
  for (const auto& sequence : arm.sequences) {
    sequence->restart();
    sequence->tokens(1);  // waits
  }
  const auto start = Clock::now();
  for (int token = 0; token < count; ++token) {
    for (const auto& sequence : arm.sequences) sequence->decode();
  }
  const double submitted = since(start);
  std::vector<Tokens> tokens;
  for (const auto& sequence : arm.sequences) {
    tokens.push_back(sequence->tokens(static_cast<std::size_t>(count)));
  }
  const double done = since(start);
  if (want.empty()) want = tokens;
  if (tokens != want) {
    throw Error(ErrorCode::kMismatch, fmt::format("{}: other tokens than the first arm", arm.name));
  }
  return {submitted, done};
}

void compare(const char* what, const std::vector<double>& own, const std::vector<double>& raw) {
  const bench::Paired paired = bench::paired_difference(own, raw);
  fmt::print("  {} {:8.3f} us, {:+7.3f} [{:+.3f}, {:+.3f}], {:.3f} times\n", what,
             bench::median(own), paired.median, paired.low, paired.high,
             bench::median(own) / bench::median(raw));
}

}  // namespace

int main(int argc, char** argv) try {
  const bench::Options options(argc, argv);
  const Device device = Device::open(options.text("--device", "cuda"));
  const int count = options.number("--tokens", 128);
  const int rounds = options.number("--rounds", 100);
  const Program program =
      Program::from_file(BATON_SOURCE_DIR "/examples/decode_loop/decode_loop.toml");
  const LoadedProgram loaded = LoadedProgram::load(program, device);
  Executable weights(loaded);
  weights.bind();
  if (count < 1 || count > weights.shape("tokens")[0]) {
    throw Error(ErrorCode::kInvalidInput, fmt::format("--tokens is {}, it must be 1 to {}", count,
                                                      weights.shape("tokens")[0]));
  }
  Stream(device).synchronize();

  const auto own = [&](ExecutorKind kind) {
    return [&loaded, kind](std::int32_t first) {
      return std::make_unique<OwnSequence>(loaded, kind, first);
    };
  };
  const auto raw = [&](Form form) {
    return [&weights, form](std::int32_t first) {
      return std::make_unique<RawSequence>(weights, form, first);
    };
  };
  Arm arms[] = {{"raw launches, full edges", 0, raw(Form::kStream)},
                {"raw launches, programmatic edges", 0, raw(Form::kEarlyStream)},
                {"Baton, stream executor", 1, own(ExecutorKind::kStream)},
                {"raw graph, full edges", 3, raw(Form::kGraph)},
                {"raw graph, programmatic edges", 3, raw(Form::kEarlyGraph)},
                {"Baton, graph executor", 4, own(ExecutorKind::kGraph)}};
  for (Arm& arm : arms) {
    for (int i = 0; i < kSequences; ++i) arm.sequences.push_back(arm.make(i));
  }
  fmt::print("{} ({}), {} sequences of {} tokens, {} rounds\n", device.spec(), device.name(),
             kSequences, count, rounds);
  std::vector<Tokens> want;
  std::vector<std::vector<double>> submitted(std::size(arms)), done(std::size(arms));
  bench::take_turns(std::size(arms), rounds, [&](std::size_t arm) {
    const Sample sample = run(arms[arm], count, want);
    submitted[arm].push_back(sample.submitted);
    done[arm].push_back(sample.done);
    return sample.done;
  });
  for (auto* samples : {&submitted, &done}) {
    for (auto& arm : *samples) arm.erase(arm.begin());  // the round that warmed up
  }
  for (std::size_t arm = 0; arm < std::size(arms); ++arm) {
    fmt::print("{}, over {}\n", arms[arm].name, arms[arms[arm].raw].name);
    compare("submitted", submitted[arm], submitted[arms[arm].raw]);
    compare("done     ", done[arm], done[arms[arm].raw]);
  }
  return 0;
} catch (const Error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return exit_status(failure.code());
}
