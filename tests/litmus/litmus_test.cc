// What the model calls racy is found, and what it calls ordered is not: litmus tests on the
// simulated GPU. Ordered ones give what they have to on any device. BATON_TEST_DEVICE names the
// device.

#include "litmus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "baton/baton.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "sim/api/driver.h"

namespace baton::litmus {

static void PrintTo(const Litmus& litmus, std::ostream* out) {
  *out << litmus.name;
}

namespace {

std::string device_name() {
  const char* const chosen = std::getenv("BATON_TEST_DEVICE");
  return chosen != nullptr && *chosen != '\0' ? chosen : "sim";
}

std::optional<Device> open_device() {
  try {
    return Device::open(device_name());
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kNoDevice) throw;
    return std::nullopt;
  }
}

Module module_of(const Device& device, const std::vector<LitmusCase>& cases) {
  std::string text = kModuleHead;
  for (const LitmusCase& one : cases) text += one.kernel;
  return Module::load(device, Image::from_bytes(text, "litmus.ptx"));
}

std::vector<std::uint8_t> initial_bytes() {
  std::vector<std::uint8_t> bytes(kBytes);
  std::memset(bytes.data() + kFrom, 7, 16);
  return bytes;
}

void launch(const Module& module, const LitmusCase& one, const Stream& stream,
            const Buffer<std::uint8_t>& memory) {
  LaunchConfig config{.grid = one.grid, .block = one.block, .stream = stream};
  if (one.cluster > 1) config.attributes.set(cluster(one.cluster));
  module.kernel(one.name).launch(config, memory);
}

// What each thread read where the model orders it.
std::vector<std::uint32_t> results_of(const LitmusCase& one, const Buffer<std::uint8_t>& memory) {
  const std::vector<std::uint8_t> bytes = memory.download();
  std::vector<std::uint32_t> results(one.threads);
  std::memcpy(results.data(), bytes.data() + kResults, results.size() * 4);
  for (std::uint32_t& result : results) result &= 0xff;  // copies of bytes that are 7 have more
  return results;
}

constexpr int kRounds = 20;

class LitmusTest : public testing::TestWithParam<Litmus> {};

// --- The judge ---

class Judged : public LitmusTest {};

std::vector<driver::Finding> findings_of(const Module& module, const LitmusCase& one,
                                         const Schedule& schedule, Races races) {
  const driver::Driver& driver = sim::simulated_driver();
  const Device& device = module.device();
  const Stream stream(device);
  const auto memory = Buffer<std::uint8_t>::of(device, initial_bytes());
  const NativeContext context(device.native_context());
  const auto session = driver.simulator->begin(context, {.schedule = schedule,
                                                         .watch = driver::Simulator::Watch::kOn,
                                                         .races = races,
                                                         .alone = true});
  driver.cuCtxSetCurrent(context);
  launch(module, one, stream, memory);
  stream.synchronize();
  std::vector<driver::Finding> findings = session->take_findings();
  driver.cuCtxSetCurrent(nullptr);
  return findings;
}

void judge(const Module& module, const LitmusCase& one, const Schedule& schedule, Races level) {
  const std::set<std::string_view> races = {"shared_race", "global_race", "async_race"};
  SCOPED_TRACE(fmt::format("{}, {}, races {}", one.name, to_string(schedule), to_string(level)));
  std::string found;
  bool is_found = false;
  try {
    for (const driver::Finding& finding : findings_of(module, one, schedule, level)) {
      found += fmt::format("\n  {}: {}", to_string(finding.kind), finding.message);
      is_found = is_found || races.contains(to_string(finding.kind));
    }
  } catch (const Error& failure) {
    FAIL() << failure.what() << "\n" << one.kernel;
  }
  if (!one.is_racy) {
    EXPECT_EQ(found, "") << "the model orders all accesses";
  } else if (one.unseen == nullptr || level == Races::kModel) {
    EXPECT_TRUE(is_found) << "the model calls it racy" << found;
  } else {
    EXPECT_FALSE(is_found) << one.unseen << found;
  }
}

TEST_P(Judged, AsTheModelDoes) {
  const Device device = Device::open("sim");
  const std::vector<LitmusCase> cases = cases_of(GetParam());
  const Module module = module_of(device, cases);
  for (const LitmusCase& one : cases) {
    for (const Schedule& schedule :
         {Schedule{ScheduleKind::kSerial}, Schedule{ScheduleKind::kReverse},
          Schedule{ScheduleKind::kRandom, 1}}) {
      for (const Races level : {Races::kGlobal, Races::kModel}) judge(module, one, schedule, level);
    }
  }
}

// --- What a device shows ---

class Observed : public LitmusTest {};

TEST_P(Observed, AsOrdered) {
  const std::optional<Device> device = open_device();
  if (!device) GTEST_SKIP() << "no device " << device_name();
  if (device->architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  std::vector<LitmusCase> cases = cases_of(GetParam());
  std::erase_if(cases, [](const LitmusCase& one) { return one.is_racy; });
  if (cases.empty()) return;
  const Module module = module_of(*device, cases);
  const Stream stream(*device);
  for (const LitmusCase& one : cases) {
    for (int round = 0; round < kRounds; ++round) {
      const auto memory = Buffer<std::uint8_t>::of(*device, initial_bytes());
      launch(module, one, stream, memory);
      stream.synchronize();
      ASSERT_EQ(results_of(one, memory), std::vector<std::uint32_t>(one.threads, 7))
          << one.name << ", round " << round << "\n"
          << one.kernel;
    }
  }
}

std::string test_name(const testing::TestParamInfo<Litmus>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Litmus, Judged, testing::ValuesIn(all_litmus()), test_name);
INSTANTIATE_TEST_SUITE_P(Litmus, Observed, testing::ValuesIn(all_litmus()), test_name);

}  // namespace
}  // namespace baton::litmus
