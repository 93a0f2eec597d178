// What a program that launches kernels itself is told of findings, and when.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

#include "baton/buffer.h"
#include "baton/error.h"
#include "baton/finding.h"
#include "baton/launch.h"
#include "baton/log.h"
#include "baton/module.h"
#include "baton/simulation.h"
#include "driver/driver.h"
#include "driver/simulator.h"

namespace baton::findings_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

constexpr const char* kKernels = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .entry add(.param .u64 add_y) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [add_y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r2, 1;
  st.global.u32 [%rd3], %r3;
  ret;
}

// Each warp reads what the next one writes.
.visible .entry shared_race(.param .u64 race_y) {
  .reg .u32 %r<6>;
  .reg .u64 %rd<4>;
  .shared .align 4 .b8 words[256];
  ld.param.u64 %rd1, [race_y];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, words;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  xor.b32 %r2, %r2, 128;
  add.u32 %r4, %r3, %r2;
  ld.shared.u32 %r5, [%r4];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}
)";

constexpr std::uint32_t kCount = 64;

// Notes what is logged while it lives.
class LogListener {
 public:
  LogListener() {
    set_log_callback([this](LogLevel level, std::string_view message) {
      text_ += (level == LogLevel::kError ? "error: " : "warning: ") + std::string(message) + "\n";
    });
  }
  ~LogListener() { set_log_callback({}); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class FindingsTest : public testing::Test {
 protected:
  using Words = Buffer<std::uint32_t>;

  static Words zeros(const Device& device) {
    return Words::of(device, std::vector<std::uint32_t>(kCount));
  }
  void run(const char* kernel, const Stream& stream, DevicePointer<std::uint32_t> at) const {
    module_.kernel(kernel).launch({.grid = 1, .block = kCount, .stream = stream}, at);
  }
  // Two streams, no event.
  void race() const {
    run("add", first_, words_);
    run("add", second_, words_);
  }
  template <typename Function>
  static Error failure_of(Function function) {
    try {
      function();
    } catch (Error& failure) {
      return failure;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(ErrorCode::kInternal, "");
  }
  void wait_for_both() const {
    first_.synchronize();
    second_.synchronize();
  }

  const Device device_ = Device::open("sim:tiny");
  const Module module_ = Module::load(device_, Image::from_bytes(kKernels, "kernels.ptx"));
  const Stream first_{device_}, second_{device_};
  const Words words_ = zeros(device_);
};

TEST_F(FindingsTest, TwoStreamsWithoutAnEvent) {
  race();
  const Error failure = failure_of([&] { wait_for_both(); });
  EXPECT_EQ(failure.code(), ErrorCode::kFault);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("kernel add"), HasSubstr("orders")));
  EXPECT_THAT(failure.where().to_string(), HasSubstr("ptx"));
  // Once told, it is over: the context is healthy.
  wait_for_both();
  // Each grid adds 1, and one may overwrite what the other one stored.
  EXPECT_THAT(words_.download(), Each(AllOf(Ge(1u), Le(2u))));
  EXPECT_TRUE(device_.findings().empty());
}

TEST_F(FindingsTest, AnEventBetweenTheStreamsIsRight) {
  Event event(device_);
  run("add", first_, words_);
  event.record(first_);
  second_.wait(event);
  run("add", second_, words_);
  second_.synchronize();
  EXPECT_EQ(words_.download(), std::vector<std::uint32_t>(kCount, 2));
}

// Each call that waits tells it.
TEST_F(FindingsTest, EveryWaitTells) {
  const std::pair<const char*, std::function<void()>> waits[] = {
      {"a stream's synchronize", [&] { first_.synchronize(); }},
      {"a stream's done",
       [&] {
         while (!first_.done()) std::this_thread::yield();
       }},
      {"the device's synchronize", [&] { device_.synchronize(); }},
      {"an event's synchronize",
       [&] {
         Event event(device_);
         event.record(first_);
         event.synchronize();
       }},
      {"an event's done",
       [&] {
         Event event(device_);
         event.record(first_);
         while (!event.done()) std::this_thread::yield();
       }},
      {"a download", [&] { words_.download(); }},
  };
  for (const auto& [name, wait] : waits) {
    SCOPED_TRACE(name);
    run("shared_race", first_, words_);
    const Error failure = failure_of(wait);
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    EXPECT_THAT(failure.message(), HasSubstr("kernel shared_race"));
  }
}

TEST_F(FindingsTest, TheFaultComesFirst) {
  device_.set_finding_policy(FindingPolicy::kCollect);
  race();
  wait_for_both();
  device_.set_finding_policy(FindingPolicy::kThrow);
  run("add", first_, words_.data() + 1);
  const Error failure = failure_of([&] { first_.synchronize(); });
  EXPECT_EQ(failure.code(), ErrorCode::kFault);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("kernel add"), HasSubstr("thread (63, 0, 0)"),
                                       Not(HasSubstr("orders"))));
  // The older ones are the read and the write of the later grid.
  ASSERT_EQ(failure.notes().size(), 4u) << failure.what();
  EXPECT_THAT(failure.notes()[0], HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(failure.notes()[1], "found before that:");
  EXPECT_THAT(failure.notes()[2], HasSubstr("orders"));
  // Every later call has the fault, and the rest no more.
  const Error again = failure_of([&] { device_.synchronize(); });
  EXPECT_EQ(again.message(), failure.message());
  EXPECT_EQ(again.notes().size(), 1u) << again.what();
}

// What ran when the device failed was cancelled, and orders nothing that comes later.
TEST_F(FindingsTest, ADeviceRecoversFromAFault) {
  const Words others = zeros(device_);
  run("add", second_, others);
  run("add", first_, words_.data() + 1);
  failure_of([&] { device_.synchronize(); });
  device_.recover();
  device_.synchronize();
  words_.upload(std::vector<std::uint32_t>(kCount));
  run("add", second_, words_);
  second_.synchronize();
  EXPECT_EQ(words_.download(), std::vector<std::uint32_t>(kCount, 1));
  // And fails anew.
  run("add", first_, words_.data() + 1);
  EXPECT_THAT(failure_of([&] { first_.synchronize(); }).message(), HasSubstr("thread (63, 0, 0)"));
}

TEST_F(FindingsTest, AHealthyDeviceRecoversToo) {
  run("add", first_, words_);
  device_.recover();
  EXPECT_EQ(words_.download(), std::vector<std::uint32_t>(kCount, 1));
}

TEST_F(FindingsTest, ManyFindingsAreCapped) {
  device_.set_finding_policy(FindingPolicy::kCollect);
  // A finding of each of 12 kernels.
  std::string text = kKernels;
  const std::string head = text.substr(0, text.find(".visible"));
  const std::string body = text.substr(text.find(".visible .entry shared_race"));
  std::string many = head;
  for (int k = 0; k < 12; ++k) {
    std::string copy = body;
    copy.replace(copy.find("shared_race"), 11, "race_" + std::to_string(k));
    many += copy;
  }
  const Module module = Module::load(device_, Image::from_bytes(many, "many.ptx"));
  for (int k = 0; k < 12; ++k) {
    module.kernel("race_" + std::to_string(k))
        .launch({.grid = 1, .block = kCount, .stream = first_}, words_.data());
  }
  first_.synchronize();
  device_.set_finding_policy(FindingPolicy::kThrow);
  const Error failure = failure_of([&] { first_.synchronize(); });
  ASSERT_EQ(failure.notes().size(), 9u);
  EXPECT_THAT(failure.notes()[7], HasSubstr("race_8"));
  EXPECT_EQ(failure.notes()[8], "and 3 more findings");
}

TEST_F(FindingsTest, CollectedFindingsAreTakenOnce) {
  device_.set_finding_policy(FindingPolicy::kCollect);
  race();
  wait_for_both();
  const std::vector<FindingReport> findings = device_.findings();
  ASSERT_EQ(findings.size(), 2u);  // the read and the write of the later grid
  for (const FindingReport& finding : findings) {
    EXPECT_TRUE(finding.error);
    EXPECT_EQ(finding.kind, "unordered_grids");
    EXPECT_EQ(finding.kernel, "add");
    EXPECT_GE(finding.count, 2u);  // each of the warps
  }
  EXPECT_TRUE(device_.findings().empty());
}

TEST_F(FindingsTest, LoggedFindingsAreLogged) {
  device_.set_finding_policy(FindingPolicy::kLog);
  const LogListener log;
  race();
  wait_for_both();
  EXPECT_THAT(log.text(), AllOf(HasSubstr("error: "), HasSubstr("kernel add")));
  EXPECT_TRUE(device_.findings().empty());
}

TEST_F(FindingsTest, WarningsAreLoggedNotThrown) {
  const LogListener log;
  const Words unwritten(device_, kCount);
  run("add", first_, unwritten);
  first_.synchronize();
  EXPECT_THAT(log.text(), AllOf(HasSubstr("warning: "), HasSubstr("kernel add")));
}

TEST_F(FindingsTest, WhoeverHasASessionIsNotTold) {
  driver::Simulator& simulator = *device_.driver().simulator;
  const auto session = simulator.begin(device_.native_context(), {});
  race();
  wait_for_both();
  EXPECT_EQ(session->take_findings().size(), 2u);
}

TEST_F(FindingsTest, ASimulationHasItsOwnFindings) {
  {
    Simulation simulation(device_, {.schedule = parse_schedule("reverse")});
    race();
    wait_for_both();
    EXPECT_EQ(simulation.take_findings().size(), 2u);
    EXPECT_TRUE(simulation.take_findings().empty());
    EXPECT_EQ(simulation.trace(), "");
    race();
    device_.set_finding_policy(FindingPolicy::kCollect);
  }
  wait_for_both();
  EXPECT_EQ(device_.findings().size(), 2u) << "what was not taken is the device's";
}

TEST_F(FindingsTest, ASimulationRecordsATimeline) {
  const Simulation simulation(device_, {.trace = true});
  run("add", first_, words_);
  first_.synchronize();
  EXPECT_THAT(simulation.trace(), HasSubstr("add"));
}

// Only the schedule of a session that is open is in force.
TEST_F(FindingsTest, AnotherScheduleBesideASimulationIsRefused) {
  const Simulation simulation(device_, {.schedule = parse_schedule("reverse")});
  const Error failure =
      failure_of([&] { Simulation(device_, {.schedule = parse_schedule("early")}); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
}

// Handles that outlive main are reachable, so a leak checker takes them for no leak.
template <typename T>
T*& kept() {
  static T* handle = nullptr;
  return handle;
}

// Whose kernel races, and who does not ask for it.
void race_and_forget(bool leaves_handles) {
  auto*& device = kept<Device>();
  auto*& module = kept<Module>();
  auto*& words = kept<Buffer<std::uint32_t>>();
  auto*& stream = kept<Stream>();
  device = new Device(Device::open("sim:tiny"));
  module = new Module(Module::load(*device, Image::from_bytes(kKernels, "kernels.ptx")));
  words = new Buffer<std::uint32_t>(
      Buffer<std::uint32_t>::of(*device, std::vector<std::uint32_t>(kCount)));
  device->set_finding_policy(FindingPolicy::kCollect);
  stream = new Stream(*device);
  module->kernel("shared_race")
      .launch({.grid = 1, .block = kCount, .stream = *stream}, words->data());
  stream->synchronize();
  if (leaves_handles) return;
  delete stream;
  delete words;
  delete module;
  delete device;
}

// Processes of their own: each begins anew, with no device.
class UnreadFindings : public testing::Test {
 protected:
  UnreadFindings() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
class ForkedProcess : public UnreadFindings {};

[[noreturn]] void end_with_handles() {
  race_and_forget(true);
  exit(0);
}

[[noreturn]] void end_without_handles() {
  race_and_forget(false);
  fputs("the device is closed", stderr);
  exit(0);
}

[[noreturn]] void end_with_nothing_left() {
  const Device device = Device::open("sim:tiny");
  race_and_forget(true);
  fprintf(stderr, "%zu taken", device.findings().size());
  exit(0);
}

TEST_F(UnreadFindings, AreToldWhenTheProcessEnds) {
  EXPECT_EXIT(end_with_handles(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("found 1 error that the program did not ask for"),
                    HasSubstr("kernel shared_race")));
}

TEST_F(UnreadFindings, AreToldWithTheLastHandle) {
  EXPECT_EXIT(end_without_handles(), testing::ExitedWithCode(0),
              testing::ContainsRegex("kernel shared_race(.|\n)*the device is closed"));
}

TEST_F(UnreadFindings, ThatWereTakenAreNotToldAgain) {
  EXPECT_EXIT(end_with_nothing_left(), testing::ExitedWithCode(0),
              AllOf(HasSubstr("2 taken"), Not(HasSubstr("shared_race"))));
}

// Threads do not live on in a forked process, so the device cannot work there. Ends as the child
// does.
[[noreturn]] void use_device_after_fork() {
  const Device device = Device::open("sim:tiny");
  const Stream stream(device);
  device.synchronize();
  const pid_t child = fork();
  if (child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  alarm(60);  // in case a call never returns
  const std::function<void()> calls[] = {
      [&] { device.synchronize(); },     [&] { stream.synchronize(); },
      [&] { Buffer<int>(device, 4); },   [&] { device.findings(); },
      [&] { Device::open("sim:h200"); },
  };
  for (const std::function<void()>& call : calls) {
    try {
      call();
      fputs("no error. ", stderr);
    } catch (const Error& failure) {
      const bool says_why = std::string(failure.what()).find("was forked") != std::string::npos;
      fputs(says_why ? "refused. " : failure.what(), stderr);
    }
  }
#if defined(__SANITIZE_ADDRESS__)
  // The leak check at the end takes locks that a thread of the parent may have had at the fork.
  _exit(0);
#endif
  exit(0);
}

TEST_F(ForkedProcess, IsToldThatItHasNoDevice) {
  EXPECT_EXIT(use_device_after_fork(), testing::ExitedWithCode(0),
              HasSubstr("refused. refused. refused. refused. refused. "));
}

}  // namespace
}  // namespace baton::findings_test
