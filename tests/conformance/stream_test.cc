#include <atomic>
#include <thread>

#include "conformance/conformance.h"

namespace baton::conformance::stream_test {
namespace {

class Streams : public Conformance {
 protected:
  static constexpr unsigned kCount = 1024;
  static constexpr unsigned kTurns = 20000;

  LaunchConfig on(const Stream& stream) const {
    return {.grid = kCount / 256, .block = 256, .stream = stream};
  }
};

TEST_F(Streams, KeepTheirOrder) {
  const Module module = load("streams.cu");
  const Kernel add = module.kernel("add"), multiply = module.kernel("multiply");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
  const Stream stream(device());
  int want = 1;
  for (int i = 0; i < 20; ++i) {
    add.launch(on(stream), values, i, kCount);
    multiply.launch(on(stream), values, i % 3 == 0 ? 2 : 1, kCount);
    want = (want + i) * (i % 3 == 0 ? 2 : 1);
  }
  stream.synchronize();
  EXPECT_EQ(values.download(), std::vector<int>(kCount, want));
}

TEST_F(Streams, WaitForEventsOfOthers) {
  const Module module = load("streams.cu");
  const Kernel slow_add = module.kernel("slow_add"), multiply = module.kernel("multiply");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
  const Stream first(device()), second(device());
  Event added(device(), false), multiplied(device(), false);
  int want = 1;
  for (int i = 0; i < 5; ++i) {
    slow_add.launch(on(first), values, i, kCount, kTurns);
    added.record(first);
    second.wait(added);
    multiply.launch(on(second), values, 3, kCount);
    multiplied.record(second);
    first.wait(multiplied);
    want = (want + i) * 3;
  }
  first.synchronize();
  second.synchronize();
  EXPECT_EQ(values.download(), std::vector<int>(kCount, want));
}

TEST_F(Streams, TellWhenTheyAreDone) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 0));
  const Stream stream(device());
  EXPECT_TRUE(stream.done());
  Event event(device());
  EXPECT_TRUE(event.done());  // never recorded
  module.kernel("slow_add").launch(on(stream), values, 7, kCount, kTurns);
  event.record(stream);
  // A host that only polls must see the end.
  while (!event.done()) std::this_thread::yield();
  while (!stream.done()) std::this_thread::yield();
  EXPECT_EQ(values.download(), std::vector<int>(kCount, 7));
}

TEST_F(Streams, EventsMeasureTime) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 0));
  const Stream stream(device());
  Event start(device()), middle(device()), end(device());
  start.record(stream);
  module.kernel("slow_add").launch(on(stream), values, 1, kCount, kTurns);
  middle.record(stream);
  module.kernel("slow_add").launch(on(stream), values, 1, kCount, kTurns);
  end.record(stream);
  end.synchronize();
  EXPECT_GT(elapsed_seconds(start, middle), 0);
  EXPECT_GE(elapsed_seconds(start, end), elapsed_seconds(start, middle));

  Event untimed(device(), false);
  untimed.record(stream);
  untimed.synchronize();
  EXPECT_THROW(elapsed_seconds(start, untimed), Error);
}

TEST_F(Streams, RecordAgainMovesTheEvent) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 0));
  const Stream stream(device());
  Event event(device());
  event.record(stream);
  event.synchronize();
  module.kernel("slow_add").launch(on(stream), values, 1, kCount, kTurns);
  event.record(stream);
  event.synchronize();
  EXPECT_TRUE(stream.done());
}

TEST_F(Streams, AreIndependent) {
  const Module module = load("streams.cu");
  const Kernel add = module.kernel("add");
  constexpr int kStreams = 16, kLaunches = 50;
  std::vector<Stream> streams;
  std::vector<Buffer<int>> buffers;
  for (int s = 0; s < kStreams; ++s) {
    streams.emplace_back(device());
    buffers.push_back(Buffer<int>::of(device(), std::vector<int>(kCount, s)));
  }
  for (int i = 0; i < kLaunches; ++i) {
    for (int s = 0; s < kStreams; ++s) add.launch(on(streams[s]), buffers[s], s + 1, kCount);
  }
  device().synchronize();
  for (int s = 0; s < kStreams; ++s) {
    EXPECT_EQ(buffers[s].download(), std::vector<int>(kCount, s + kLaunches * (s + 1))) << s;
  }
}

TEST_F(Streams, FinishTheirWorkWhenDestroyed) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 0));
  {
    const Stream stream(device());
    module.kernel("slow_add").launch(on(stream), values, 3, kCount, kTurns);
  }
  device().synchronize();
  EXPECT_EQ(values.download(), std::vector<int>(kCount, 3));
}

TEST_F(Streams, TheLegacyDefaultStreamIsOrdered) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
  const LaunchConfig config{.grid = kCount / 256, .block = 256};
  module.kernel("slow_add").launch(config, values, 1, kCount, kTurns);
  module.kernel("multiply").launch(config, values, 5, kCount);
  const Stream adopted = Stream::adopt(device(), nullptr);
  adopted.synchronize();
  EXPECT_EQ(values.download(), std::vector<int>(kCount, 10));
}

TEST_F(Streams, AdoptedOnesStayTheirOwners) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
  const Stream owner(device());
  {
    const Stream adopted = Stream::adopt(device(), owner.native());
    EXPECT_EQ(adopted.device(), device());
    module.kernel("add").launch(on(adopted), values, 1, kCount);
  }
  module.kernel("add").launch(on(owner), values, 1, kCount);
  owner.synchronize();
  EXPECT_EQ(values.download(), std::vector<int>(kCount, 3));
}

TEST_F(Streams, TakePriorities) {
  const Module module = load("streams.cu");
  const auto values = Buffer<int>::of(device(), std::vector<int>(kCount, 1));
  for (int priority : {-100, -1, 0, 1, 100}) {
    const Stream stream(device(), priority);
    module.kernel("add").launch(on(stream), values, 1, kCount);
    stream.synchronize();
  }
  EXPECT_EQ(values.download(), std::vector<int>(kCount, 6));
}

TEST_F(Streams, ManyThreadsLaunchTheSameKernelForTheFirstTime) {
  const Module module = load("streams.cu");
  const Kernel add = module.kernel("add");
  constexpr int kThreads = 8, kLaunches = 25;
  std::vector<Buffer<int>> buffers;
  for (int t = 0; t < kThreads; ++t) {
    buffers.push_back(Buffer<int>::of(device(), std::vector<int>(kCount, 0)));
  }
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Stream stream(device());
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int i = 0; i < kLaunches; ++i) add.launch(on(stream), buffers[t], t + 1, kCount);
      stream.synchronize();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(buffers[t].download(), std::vector<int>(kCount, kLaunches * (t + 1))) << t;
  }
}

}  // namespace
}  // namespace baton::conformance::stream_test
