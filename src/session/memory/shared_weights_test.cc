#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

// Executables of one loaded program share its weights. The kernel adds 1 to what it reads.

namespace baton::session_test::shared_weights_test {
namespace {

using ::testing::Each;

using SharedWeights = DeviceTest;

const std::string kText =
    "[symbols]\nN = 8\n" + buffer("w", "i32", "[\"N\"]", "weight", "ones") +
    buffer("r", "i32", "[8]", "weight", "random") + buffer("y", "i32", "[\"N\"]", "output") +
    edge_kernel("late") +
    "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [\"N\"]\nargs = [\"w\", \"y\"]\n" +
    "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [1]\nargs = [\"r\", \"y\"]\n";

LoadedProgram load(const Device& device) {
  return LoadedProgram::load(program(kText), device);
}

DeviceAddress place(const Executable& executable, const char* buffer) {
  return executable.memory(buffer).address();
}

// Takes memory of the driver, and counts.
class OwnAllocator : public Allocator {
 public:
  DeviceAddress allocate(const Device& device, std::size_t bytes) override {
    memory_.emplace_back(device, bytes);
    return memory_.back().address();
  }
  void free(const Device&, DeviceAddress, std::size_t) noexcept override { ++freed; }

  std::size_t given() const { return memory_.size(); }
  std::size_t freed = 0;

 private:
  std::vector<Memory> memory_;
};

TEST_F(SharedWeights, AreOneMemoryForEqualShapesAndSeeds) {
  const Device device = open_device();
  const LoadedProgram loaded = load(device);
  Executable first(loaded), second(loaded);
  first.bind();
  second.bind();
  EXPECT_EQ(place(first, "w"), place(second, "w"));
  EXPECT_EQ(place(first, "r"), place(second, "r"));
  EXPECT_NE(place(first, "y"), place(second, "y"));

  second.bind({.seed = 1});
  EXPECT_EQ(place(first, "w"), place(second, "w"));
  EXPECT_NE(place(first, "r"), place(second, "r")) << "other contents";
  second.bind({.symbols = {{"N", 4}}});
  EXPECT_NE(place(first, "w"), place(second, "w")) << "another shape";
  EXPECT_EQ(place(first, "r"), place(second, "r"));
  for (Executable* each : {&first, &second}) {
    each->run();
    const auto y = values<int>(each->output("y"));
    EXPECT_THAT(std::vector(y.begin() + 1, y.end()), Each(2));
  }
  EXPECT_EQ(values<int>(first.output("y"))[0], values<int>(second.output("y"))[0]);
}

TEST_F(SharedWeights, StayAsLongAsOneExecutableUsesThem) {
  const Device device = open_device();
  const LoadedProgram loaded = load(device);
  Executable last(loaded);
  {
    Executable first(loaded);
    first.bind();
    last.bind();
  }
  last.run();
  EXPECT_THAT(values<int>(last.contents("w")), Each(1));
}

TEST_F(SharedWeights, AreNoneThatABindingGives) {
  const Device device = open_device();
  const LoadedProgram loaded = load(device);
  Executable first(loaded), second(loaded), third(loaded);
  const Array twos = array(DType::kI32, {8}, std::vector<int>(8, 2));
  first.bind({.inputs = {{"w", twos}}});
  second.bind();
  third.bind({.inputs = {{"w", twos}}});
  EXPECT_NE(place(first, "w"), place(second, "w"));
  EXPECT_NE(place(first, "w"), place(third, "w"));
  second.run();
  EXPECT_THAT(values<int>(second.contents("w")), Each(1));
  first.bind();
  EXPECT_EQ(place(first, "w"), place(second, "w")) << "it is the program's again";
}

TEST_F(SharedWeights, ComeFromOneAllocator) {
  const Device device = open_device();
  const LoadedProgram loaded = load(device);
  const auto allocator = std::make_shared<OwnAllocator>();
  {
    Executable first(loaded), second(loaded), plain(loaded);
    first.bind({.allocator = allocator});
    EXPECT_EQ(allocator->given(), 3u);
    second.bind({.allocator = allocator});
    EXPECT_EQ(allocator->given(), 4u) << "its output alone";
    plain.bind();
    EXPECT_EQ(allocator->given(), 4u);
    EXPECT_EQ(place(first, "w"), place(second, "w"));
    EXPECT_NE(place(first, "w"), place(plain, "w"));
    second.run();
    EXPECT_THAT(values<int>(second.contents("w")), Each(1));
    EXPECT_EQ(allocator->freed, 0u);
  }
  EXPECT_EQ(allocator->freed, 4u);
}

TEST_F(SharedWeights, AreUploadedOnceByThreadsThatBindTogether) {
  const Device device = open_device();
  const LoadedProgram loaded = load(device);
  std::vector<Executable> executables;
  for (int i = 0; i < 4; ++i) executables.emplace_back(loaded);
  std::vector<std::thread> threads;
  for (Executable& each : executables) threads.emplace_back([&] { each.bind(); });
  for (std::thread& each : threads) each.join();
  for (const Executable& each : executables) {
    EXPECT_EQ(place(each, "w"), place(executables[0], "w"));
    EXPECT_THAT(values<int>(each.contents("w")), Each(1));
  }
}

}  // namespace
}  // namespace baton::session_test::shared_weights_test
