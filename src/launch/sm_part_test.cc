#include "baton/sm_part.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baton/buffer.h"
#include "baton/graph.h"
#include "baton/launch_plan.h"
#include "baton/module.h"
#include "baton/stream.h"
#include "driver/driver.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"

namespace baton::sm_part_test {
namespace {

using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

class SmPartTest : public testing::Test {
 protected:
  static const char* spec() {
    const char* given = std::getenv("BATON_TEST_DEVICE");
    return given != nullptr && *given != '\0' ? given : "sim:h100";
  }
  void SetUp() override {
    try {
      device_ = Device::open(spec());
      units_ = sm_units(*device_);
    } catch (const Error& failure) {
      GTEST_SKIP() << failure.message();
    }
    kernel_ = module().kernel("place");
  }
  Module module() const {
    const std::string path = BATON_SOURCE_DIR "/src/session/testdata/places.ptx";
    return Module::load(*device_, Image::from_file(path));
  }
  static Error refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& failure) {
      return failure;
    }
    ADD_FAILURE() << "was not refused";
    return Error(ErrorCode::kInternal, "");
  }
  // The multiprocessors of `blocks` blocks that are there together.
  std::set<std::uint32_t> places(std::uint32_t blocks,
                                 const std::function<void(const LaunchPlan&)>& launch,
                                 const Stream& stream) {
    Buffer<std::uint32_t> to(*device_, blocks), count(*device_, 1);
    count.upload(std::vector<std::uint32_t>{0}, stream);
    launch(LaunchPlan::make(*kernel_, {.grid = blocks, .block = 1, .stream = stream}, to, count));
    stream.synchronize();
    const std::vector<std::uint32_t> all = to.download();
    return {all.begin(), all.end()};
  }
  std::set<std::uint32_t> places_in(const Stream& stream, std::uint32_t blocks) {
    return places(
        blocks, [](LaunchPlan plan) { plan.launch(); }, stream);
  }

  std::optional<Device> device_;
  std::optional<Kernel> kernel_;
  SmUnits units_;
};

TEST_F(SmPartTest, PartsHaveAtLeastWhatWasAskedFor) {
  const std::vector<SmPart> parts = split_sms(*device_, {1, units_.unit, units_.unit + 1});
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[0].asked(), 1u);
  EXPECT_EQ(parts[0].sms(), units_.unit);
  EXPECT_EQ(parts[1].sms(), units_.unit);
  EXPECT_EQ(parts[2].asked(), units_.unit + 1);
  EXPECT_EQ(parts[2].sms(), 2 * units_.unit);
  EXPECT_EQ(parts[2].device(), *device_);
}

TEST_F(SmPartTest, KernelsOfAStreamRunOnItsPart) {
  const std::vector<SmPart> parts = split_sms(*device_, {8, 16});
  const Stream first(parts[0]), second(parts[1]), all(*device_);
  EXPECT_EQ(first.part_sms(), parts[0].sms());
  EXPECT_EQ(all.part_sms(), 0u);
  const auto one = places_in(first, 64), two = places_in(second, 128);
  EXPECT_THAT(one.size(), Le(parts[0].sms()));
  EXPECT_THAT(two.size(), Le(parts[1].sms()));
  for (const std::uint32_t sm : one) EXPECT_FALSE(two.contains(sm)) << sm;
  EXPECT_THAT(places_in(all, device_->limits().multiprocessors).size(), Ge(parts[1].sms() + 1));
}

TEST_F(SmPartTest, NodesOfAGraphRunOnThePartOfTheirPlan) {
  const std::vector<SmPart> parts = split_sms(*device_, {8});
  const Stream stream(parts[0]), all(*device_);
  const auto found = places(
      64,
      [&](const LaunchPlan& plan) {
        Graph graph(*device_);
        const NativeGraphNode node = graph.add(plan, Span<const GraphEdge>());
        stream.synchronize();
        const GraphInstance instance(graph);
        instance.update(node, plan);
        instance.launch(all);
        all.synchronize();
      },
      stream);
  EXPECT_THAT(found.size(), Le(parts[0].sms()));
}

TEST_F(SmPartTest, ACooperativeGridFitsIntoItsPart) {
  const std::vector<SmPart> parts = split_sms(*device_, {8});
  const Stream stream(parts[0]);
  LaunchConfig config{.block = 1, .attributes = {cooperative()}};
  const std::uint64_t most = kernel_->max_cooperative_blocks(config);
  config.stream = stream;
  const std::uint64_t here = kernel_->max_cooperative_blocks(config);
  EXPECT_EQ(here * device_->limits().multiprocessors, most * parts[0].sms());
  config.grid = static_cast<std::uint32_t>(here);
  EXPECT_NO_THROW(kernel_->check(config));
  config.grid = static_cast<std::uint32_t>(here) + 1;
  const Error failure = refusal([&] { kernel_->check(config); });
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
  EXPECT_THAT(failure.message(),
              HasSubstr("a part of " + std::to_string(parts[0].sms()) + " SMs of "));
}

TEST_F(SmPartTest, AStreamKeepsItsPart) {
  Stream stream(split_sms(*device_, {8}).front());
  Stream moved(std::move(stream));
  EXPECT_THAT(places_in(moved, 64).size(), Le(moved.part_sms()));
  Stream assigned(*device_);
  assigned = std::move(moved);
  EXPECT_THAT(places_in(assigned, 64).size(), Le(assigned.part_sms()));
}

TEST_F(SmPartTest, AnAdoptedStreamOfAGreenContextKeepsItsPart) {
  const std::vector<SmPart> parts = split_sms(*device_, {8});
  const Stream owner(parts[0]);
  const Stream adopted = Stream::adopt(*device_, owner.native());
  EXPECT_EQ(adopted.device(), *device_);
  EXPECT_EQ(adopted.part_sms(), parts[0].sms());
  EXPECT_EQ(adopted.part(), parts[0].native());
  EXPECT_THAT(places_in(adopted, 64).size(), Le(parts[0].sms()));
}

TEST_F(SmPartTest, EventsOrderStreamsOfParts) {
  const std::vector<SmPart> parts = split_sms(*device_, {8, 8});
  const Stream first(parts[0]), second(parts[1]);
  Event event(first);
  Buffer<std::uint32_t> to(*device_, 8), count(*device_, 1);
  count.upload(std::vector<std::uint32_t>{0}, first);
  kernel_->launch({.grid = 8, .block = 1, .stream = first}, to, count);
  event.record(first);
  second.wait(event);
  std::vector<std::uint32_t> done(1);
  count.download(Span<std::uint32_t>(done), second);
  second.synchronize();
  EXPECT_THAT(done, Each(8u));
}

TEST_F(SmPartTest, MoreThanThereIsIsRefused) {
  const std::uint32_t most = units_.unit * units_.count;
  const Error failure = refusal([&] { split_sms(*device_, {most, 1}); });
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
  EXPECT_THAT(failure.message(), HasSubstr(std::to_string(most + 1)));
  EXPECT_THAT(failure.message(), HasSubstr("parts can have " + std::to_string(most)));
  EXPECT_NO_THROW(split_sms(*device_, {most}));
}

TEST_F(SmPartTest, APartOfNothingIsRefused) {
  const Error failure = refusal([&] { split_sms(*device_, {8, 0}); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
}

TEST(SmPartOfASmallDevice, IsRefused) {
  try {
    split_sms(Device::open("sim:tiny"), {1});
    ADD_FAILURE() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kLimit);
    EXPECT_THAT(failure.message(), HasSubstr("has 2, of which parts can have 0"));
  }
}

// The driver's table, with entries that are missing.
TEST(SmPartOfAnOldDriver, IsRefusedByTheNameOfWhatIsMissing) {
  static driver::Driver table = *driver_providers().back().driver(nullptr);
  table.cuGreenCtxStreamCreate = nullptr;
  const Device device = DeviceState::handle(DeviceState::acquire(
      driver_providers().back(), table, *driver_providers().back().ordinal("h100")));
  try {
    split_sms(device, {8});
    ADD_FAILURE() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(failure.message(), HasSubstr("cuGreenCtxStreamCreate"));
    EXPECT_THAT(failure.message(), HasSubstr("CUDA 12.5"));
  }
}

}  // namespace
}  // namespace baton::sm_part_test
