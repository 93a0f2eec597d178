#include <cstring>
#include <functional>
#include <utility>

#include "baton/executable.h"
#include "baton/graph.h"
#include "baton/program.h"
#include "conformance/conformance.h"

// Events between branches of a program, on both executors and in a caller's graph.

namespace baton::conformance::events_test {
namespace {

constexpr unsigned kBlocks = 16, kThreads = 64, kCount = kBlocks * kThreads;

class BranchEvents : public Conformance, public testing::WithParamInterface<ExecutorKind> {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  }

  Executable prepare(const std::vector<std::function<void(ProgramBuilder&)>>& branches) const {
    ProgramBuilder builder("events");
    for (const char* kernel : {"slow", "late"}) {
      builder.kernel({.name = kernel,
                      .origin = KernelOrigin::kSource,
                      .file = kernel_path("events.cu"),
                      .entry = kernel});
    }
    builder.buffer(buffer("x", BufferRole::kInput, BufferInit::kArange));
    builder.buffer(buffer("y", BufferRole::kOutput, BufferInit::kZeros));
    for (const char* name : {"a", "b", "c", "d"}) {
      builder.buffer(buffer(name, BufferRole::kScratch, BufferInit::kZeros));
    }
    // Old results would hide a launch that begins too early.
    for (const char* name : {"a", "b", "c", "d", "y"}) builder.fill({.buffer = name, .value = 0.0});
    std::vector<std::function<void()>> bodies;
    for (const auto& branch : branches) bodies.push_back([&builder, branch] { branch(builder); });
    builder.parallel(bodies);
    PrepareOptions options;
    options.executor = GetParam();
    return Executable::prepare(builder.build(), device(), options);
  }

  static LaunchStep launch(const char* kernel, const char* from, const char* to) {
    return {.kernel = kernel, .grid = {kBlocks}, .block = {kThreads}, .args = {from, to}};
  }

  // y[i] = i + more, in several runs, and in a graph of the caller's.
  void expect_results(Executable& executable, unsigned more) const {
    std::vector<unsigned> want(kCount);
    for (unsigned i = 0; i < kCount; ++i) want[i] = i + more;
    for (int run = 0; run < 3; ++run) {
      executable.run();
      EXPECT_EQ(results(executable), want) << "run " << run;
    }
    const Stream stream(device());
    const GraphInstance instance(Graph::capture(stream, [&] { executable.enqueue(stream); }));
    for (int run = 0; run < 2; ++run) {
      executable.initialise(stream);
      instance.launch(stream);
      std::vector<unsigned> got(kCount);
      executable.memory("y").download(got.data(), kCount * sizeof(unsigned), 0, stream);
      stream.synchronize();
      EXPECT_EQ(got, want) << "captured, run " << run;
    }
  }

 private:
  static ProgramBuffer buffer(const char* name, BufferRole role, BufferInit init) {
    return {.name = name, .dtype = DType::kU32, .shape = {kCount}, .role = role, .init = init};
  }
  static std::vector<unsigned> results(const Executable& executable) {
    const Array array = executable.output("y");
    std::vector<unsigned> values(kCount);
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    return values;
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, BranchEvents,
                         testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& test) {
                           return test.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

TEST_P(BranchEvents, AWaitLastsUntilTheLaunchWithTheProgrammaticEventIsDone) {
  Executable executable = prepare({[](ProgramBuilder& builder) {
                                     builder.launch(launch("late", "x", "a"));
                                     LaunchStep records = launch("slow", "a", "b");
                                     records.programmatic_event = "e";
                                     builder.launch(std::move(records));
                                     builder.launch(launch("late", "x", "c"));
                                   },
                                   [](ProgramBuilder& builder) {
                                     LaunchStep follows = launch("late", "b", "y");
                                     follows.after = {"e"};
                                     builder.launch(std::move(follows));
                                   }});
  expect_results(executable, 3);
}

TEST_P(BranchEvents, LaterStepsOfTheBranchComeAfterTheEventToo) {
  Executable executable = prepare({[](ProgramBuilder& builder) {
                                     LaunchStep records = launch("slow", "x", "b");
                                     records.programmatic_event = "e";
                                     builder.launch(std::move(records));
                                   },
                                   [](ProgramBuilder& builder) {
                                     LaunchStep follows = launch("late", "x", "c");
                                     follows.after = {"e"};
                                     builder.launch(std::move(follows));
                                     builder.launch(launch("late", "b", "d"));
                                     builder.copy({.from = {"d"}, .to = {"y"}});
                                   }});
  expect_results(executable, 2);
}

TEST_P(BranchEvents, ALaunchMayBeginWhenAnotherHasBegun) {
  Executable executable = prepare({[](ProgramBuilder& builder) {
                                     LaunchStep records = launch("slow", "x", "a");
                                     records.launch_completion_event = "begun";
                                     builder.launch(std::move(records));
                                   },
                                   [](ProgramBuilder& builder) {
                                     LaunchStep follows = launch("slow", "x", "y");
                                     follows.after = {"begun"};
                                     builder.launch(std::move(follows));
                                   }});
  expect_results(executable, 1);
}

TEST_P(BranchEvents, OneLaunchRecordsBoth) {
  Executable executable = prepare({[](ProgramBuilder& builder) {
                                     LaunchStep records = launch("slow", "x", "a");
                                     records.programmatic_event = "e";
                                     records.launch_completion_event = "begun";
                                     builder.launch(std::move(records));
                                   },
                                   [](ProgramBuilder& builder) {
                                     LaunchStep follows = launch("late", "a", "y");
                                     follows.after = {"begun", "e"};
                                     builder.launch(std::move(follows));
                                   },
                                   [](ProgramBuilder& builder) {
                                     LaunchStep follows = launch("late", "x", "c");
                                     follows.after = {"begun"};
                                     builder.launch(std::move(follows));
                                   }});
  expect_results(executable, 2);
}

}  // namespace
}  // namespace baton::conformance::events_test
