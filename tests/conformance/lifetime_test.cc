#include <cstdlib>
#include <optional>
#include <thread>

#include "conformance/conformance.h"

namespace baton::conformance::lifetime_test {
namespace {

constexpr unsigned kCount = 1024;
constexpr unsigned kTurns = 20000;

class Lifetimes : public Conformance {
 protected:
  LaunchConfig config() const { return {.grid = kCount / 256, .block = 256}; }
};

TEST_F(Lifetimes, MemoryIsFreedAfterTheWorkThatUsesIt) {
  const Kernel slow_add = load("streams.cu").kernel("slow_add");
  for (int i = 0; i < 5; ++i) {
    const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
    slow_add.launch(config(), values, 1, kCount, kTurns);
  }
  EXPECT_NO_THROW(device().synchronize());
}

TEST_F(Lifetimes, AModuleIsUnloadedAfterItsLastLaunch) {
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
  for (int i = 0; i < 5; ++i) {
    load("streams.cu").kernel("slow_add").launch(config(), values, 1, kCount, kTurns);
  }
  EXPECT_EQ(values.download(), std::vector<int>(kCount, 6));
}

TEST_F(Lifetimes, ObjectsOutliveTheThreadThatMadeThem) {
  std::optional<Buffer<int>> values;
  std::optional<Kernel> add;
  std::optional<Stream> stream;
  std::thread([&] {
    values.emplace(Buffer<int>::of(device(), std::vector<int>(kCount, 1)));
    add = load("streams.cu").kernel("add");
    stream.emplace(device());
    add->launch({.grid = kCount / 256, .block = 256, .stream = *stream}, *values, 1, kCount);
  }).join();
  add->launch({.grid = kCount / 256, .block = 256, .stream = *stream}, *values, 1, kCount);
  stream->synchronize();
  EXPECT_EQ(values->download(), std::vector<int>(kCount, 3));
}

// Constructed before the driver is loaded, and so destroyed after it has shut down.
struct Everything {
  std::optional<Device> device;
  std::optional<Stream> stream;
  std::optional<Event> event;
  std::optional<Buffer<int>> buffer;
  std::optional<PinnedBuffer<int>> pinned;
  std::optional<Module> module;
  std::optional<Kernel> kernel;
};
Everything at_exit;

TEST_F(Lifetimes, EndWithTheProcessInSilence) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        at_exit.device = device();
        at_exit.stream.emplace(device());
        at_exit.event.emplace(device());
        at_exit.buffer = Buffer<int>::of(device(), std::vector<int>(kCount));
        at_exit.pinned.emplace(device(), kCount);
        at_exit.module = load("streams.cu");
        at_exit.kernel = at_exit.module->kernel("add");
        at_exit.kernel->launch({.grid = 4, .block = 256, .stream = *at_exit.stream},
                               *at_exit.buffer, 1, kCount);
        at_exit.event->record(*at_exit.stream);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace baton::conformance::lifetime_test
