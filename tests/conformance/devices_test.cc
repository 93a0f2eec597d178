// One module on several devices, and many threads at once.

#include <algorithm>
#include <atomic>
#include <thread>

#include "conformance/conformance.h"

namespace baton::conformance::devices_test {
namespace {

class Devices : public Conformance {
 protected:
  // Another device of the same kind, or nothing.
  std::optional<Device> other() const {
    const std::string kind = device().spec().substr(0, device().spec().find(':'));
    for (const DeviceSummary& summary : list_devices()) {
      if (summary.spec.substr(0, summary.spec.find(':')) != kind) continue;
      if (summary.spec == device().spec()) continue;
      if (summary.architecture != device().architecture()) continue;
      return Device::open(summary.spec);
    }
    return std::nullopt;
  }
};

TEST_F(Devices, OneModuleServesThemAll) {
  const std::optional<Device> second = other();
  if (!second) GTEST_SKIP() << "there is one device of this architecture";
  const Kernel sum = load("shared.cu").kernel("sum_dynamic");
  const Device devices[] = {device(), *second};
  // The opt-in is each device's own, and rises on both.
  for (const std::uint32_t bytes : {1000u, 60000u, 2000u, 100000u}) {
    for (const Device& on : devices) {
      const Stream stream(on);
      // The kernel adds to what is there.
      const auto out = Buffer<unsigned long long>::of(on, std::vector<unsigned long long>(1));
      sum.launch({.block = 256, .shared = bytes, .stream = stream}, out, bytes);
      stream.synchronize();
      std::uint64_t expected = 0;
      for (std::uint32_t i = 0; i < bytes; ++i) expected += static_cast<std::uint8_t>(i * 3);
      EXPECT_EQ(out.download()[0], expected) << on.spec() << " " << bytes;
      sum.launch({.block = 256, .shared = bytes, .stream = on}, out, bytes);
      EXPECT_EQ(out.download()[0], 2 * expected) << on.spec() << " " << bytes;
    }
  }
}

TEST_F(Devices, HaveTheirOwnVariables) {
  const std::optional<Device> second = other();
  if (!second) GTEST_SKIP() << "there is one device of this architecture";
  const Module module = load("variables.cu");
  const std::string name = module.facts().variables.front().name;
  const Memory here = module.variable(name), there = module.variable(name, *second);
  ASSERT_EQ(here.bytes(), there.bytes());
  std::vector<unsigned char> one(here.bytes(), 1), two(here.bytes(), 2), got(here.bytes());
  const Stream a(device()), b(*second);
  here.upload(one.data(), one.size(), 0, a);
  there.upload(two.data(), two.size(), 0, b);
  here.download(got.data(), got.size(), 0, a);
  a.synchronize();
  EXPECT_EQ(got, one);
  there.download(got.data(), got.size(), 0, b);
  b.synchronize();
  EXPECT_EQ(got, two);
}

TEST_F(Devices, ManyThreadsMayBeFirst) {
  for (int round = 0; round < 5; ++round) {
    // A module of its own a round: no kernel has been used.
    const Kernel shared = load("shared.cu").kernel("sum_dynamic");
    std::atomic<int> ready = 0, failures = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        try {
          const Stream stream(device());
          const std::uint32_t bytes = 20000 * t;
          const auto out =
              Buffer<unsigned long long>::of(device(), std::vector<unsigned long long>(1));
          ++ready;
          while (ready < 8) std::this_thread::yield();
          shared.launch({.block = 64, .shared = bytes, .stream = stream}, out, bytes);
          stream.synchronize();
        } catch (const Error& failure) {
          ADD_FAILURE() << failure.what();
          ++failures;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
  }
}

}  // namespace
}  // namespace baton::conformance::devices_test
