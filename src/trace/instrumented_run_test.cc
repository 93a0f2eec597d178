// Instrumented kernels are run: they compute what they did, and note what their threads did.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "baton/buffer.h"
#include "baton/launch_plan.h"
#include "baton/module.h"
#include "driver/driver.h"
#include "trace/instrument.h"
#include "trace/launch_records.h"
#include "trace/ptxas_test.h"
#include "trace/sm_clocks.h"

namespace baton::trace::instrumented_run_test {
namespace {

using testing::IsEmpty;

Device open_device() {
  const char* spec = std::getenv("BATON_TEST_DEVICE");
  return Device::open(spec != nullptr && *spec != '\0' ? spec : "sim");
}

class InstrumentedRun : public testing::Test {
 protected:
  void SetUp() override {
    try {
      open_device();
    } catch (const Error& failure) {
      GTEST_SKIP() << failure.message();
    }
  }
};

// Per thread: a value, and flags of what the thread did.
constexpr std::uint32_t kWaited = 1, kTriggered = 2;
struct Result {
  std::uint32_t value, flags;
  friend bool operator==(const Result&, const Result&) = default;
};

// Writes kernels at random: nested branches and loops whose conditions differ between threads,
// warps or blocks, with waits, triggers, calls and ends anywhere in them.
class KernelWriter {
 public:
  explicit KernelWriter(std::uint32_t seed) : random_(seed) {}

  std::string write() {
    std::string body;
    statements(body, 0);
    if (chance(2)) body += "  ret;\n";
    return ".version 8.0\n.target sm_90\n.address_size 64\n"
           ".func (.param .b32 y) f(.param .b32 x)\n{\n  .reg .b32 %r<3>;\n"
           "  ld.param.b32 %r1, [x];\n  mad.lo.u32 %r2, %r1, 5, 1;\n  st.param.b32 [y], %r2;\n"
           "  ret;\n}\n"
           ".extern .shared .align 4 .b8 dynamic[];\n"
           ".visible .entry k(.param .u64 out, .param .u32 n)\n.maxntid 96, 1, 1\n{\n"
           "  .reg .pred %p<4>;\n  .reg .b32 %r<9>, %i<9>;\n  .reg .b64 %d<4>;\n"
           "  .shared .align 4 .b8 own[64];\n"
           "  ld.param.u64 %d1, [out];\n"
           "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
           "  mad.lo.u32 %r4, %r1, %r2, %r3;\n  mul.wide.u32 %d2, %r4, 8;\n"
           "  add.u64 %d1, %d1, %d2;\n  mov.u32 %r5, %r4;\n  mov.u32 %r6, 0;\n" +
           body + "}\n";
  }

 private:
  bool chance(std::uint32_t one_in) { return random_() % one_in == 0; }

  // Sets %p1 by a hash of the thread, the warp or the block.
  void condition(std::string& body) {
    const char* of[] = {"%r4", "%r1", "%r5"};
    body += "  mad.lo.u32 %r7, " + std::string(of[random_() % 3]) + ", " +
            std::to_string(random_() | 1) + ", " + std::to_string(random_()) +
            ";\n  shr.u32 %r7, %r7, 29;\n  setp.lt.u32 %p1, %r7, " +
            std::to_string(1 + random_() % 7) + ";\n";
  }

  void store(std::string& body) { body += "  st.global.v2.u32 [%d1], {%r5, %r6};\n"; }

  std::string guard(std::string& body) {
    if (chance(2)) return "";
    condition(body);
    return chance(2) ? "@%p1 " : "@!%p1 ";
  }

  void event(std::string& body, const char* instruction, std::uint32_t flag) {
    const std::string when = guard(body);
    body += "  " + when + "griddepcontrol." + instruction + ";\n  " + when + "or.b32 %r6, %r6, " +
            std::to_string(flag) + ";\n";
    store(body);
  }

  void statements(std::string& body, int depth) {
    const std::uint32_t count = 1 + random_() % 5;
    for (std::uint32_t k = 0; k < count; ++k) statement(body, depth);
  }

  void statement(std::string& body, int depth) {
    const std::uint32_t kind = random_() % 10;
    if (kind < 2) {
      body += "  mad.lo.u32 %r5, %r5, 3, " + std::to_string(random_() % 100) + ";\n";
      store(body);
    } else if (kind < 4) {
      event(body, "wait", kWaited);
    } else if (kind < 5) {
      event(body, "launch_dependents", kTriggered);
    } else if (kind < 6) {
      store(body);
      body += "  " + guard(body);
      body += chance(2) ? "ret;\n" : "exit;\n";
    } else if (kind < 7) {
      body +=
          "  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r5; call.uni (y), f, (x); "
          "ld.param.b32 %r5, [y]; }\n";
      store(body);
    } else if (depth < 4) {
      kind == 7 ? loop(body, depth) : branch(body, depth);
    }
  }

  void branch(std::string& body, int depth) {
    const std::string other = "$L" + std::to_string(++labels_);
    const std::string end = "$L" + std::to_string(++labels_);
    condition(body);
    body += "  @!%p1 bra " + other + ";\n";
    statements(body, depth + 1);
    body += "  bra " + end + ";\n" + other + ":\n";
    if (chance(2)) statements(body, depth + 1);
    body += end + ":\n";
  }

  void loop(std::string& body, int depth) {
    const std::string begin = "$L" + std::to_string(++labels_);
    const std::string counter = "%i" + std::to_string(depth + 1);
    condition(body);
    body += "  selp.u32 " + counter + ", 1, " + std::to_string(1 + random_() % 3) + ", %p1;\n" +
            begin + ":\n";
    statements(body, depth + 1);
    body += "  sub.u32 " + counter + ", " + counter + ", 1;\n  setp.ne.u32 %p2, " + counter +
            ", 0;\n  @%p2 bra " + begin + ";\n";
  }

  std::mt19937 random_;
  int labels_ = 0;
};

struct Ran {
  std::vector<Result> results;
  std::vector<BlockRecord> records;
};

constexpr std::uint32_t kBlocks = 3, kThreads = 96;

Ran run(const Device& device, const std::string& ptx, bool is_instrumented) {
  const Stream stream(device);
  const Module module = Module::load(device, Image::from_bytes(ptx, "random.ptx"));
  const Buffer<Result> out(device, kBlocks * kThreads);
  out.memory().fill(0, 4, 2 * kBlocks * kThreads, 0, stream);
  LaunchPlan plan = LaunchPlan::make(
      module.kernel("k"), {.grid = kBlocks, .block = kThreads, .shared = 256, .stream = stream},
      out, 7u);
  LaunchRecords records(device, kBlocks);
  records.clear(stream);
  NotedStep step;
  step.grid = {kBlocks, 1, 1};
  EXPECT_EQ(plan.kernel().facts().traced, is_instrumented);
  plan.set_records(records.add(step, is_instrumented));
  plan.launch();
  Ran ran;
  ran.records = records.read(stream);
  ran.results.resize(kBlocks * kThreads);
  out.download(Span<Result>(ran.results.data(), ran.results.size()), stream);
  stream.synchronize();
  return ran;
}

void expect_true(const Ran& ran) {
  ASSERT_EQ(ran.records.size(), kBlocks);
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    const BlockRecord& record = ran.records[block];
    std::uint32_t flags = 0;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      flags |= ran.results[block * kThreads + thread].flags;
    }
    ASSERT_TRUE(record.began());
    EXPECT_NE(record.entry_time, 0u);
    EXPECT_LE(record.entry_clock, record.exit_clock);
    ASSERT_NE(record.exit_clock, 0u);
    EXPECT_LE(record.entry_clock, record.exit_clock);
    EXPECT_EQ(record.wait_begin_clock != 0, (flags & kWaited) != 0);
    EXPECT_EQ(record.wait_end_clock != 0, (flags & kWaited) != 0);
    EXPECT_EQ(record.trigger_clock != 0, (flags & kTriggered) != 0);
    if ((flags & kWaited) != 0) {
      EXPECT_LE(record.entry_clock, record.wait_begin_clock);
      EXPECT_LE(record.wait_begin_clock, record.wait_end_clock);
      EXPECT_LE(record.wait_end_clock, record.exit_clock);
    }
    if ((flags & kTriggered) != 0) {
      EXPECT_LE(record.entry_clock, record.trigger_clock);
      EXPECT_LE(record.trigger_clock, record.exit_clock);
    }
  }
}

TEST_F(InstrumentedRun, KernelsComputeTheSameAndNoteWhatTheirThreadsDid) {
  const Device device = open_device();
  const auto ptxas = find_ptxas();
  std::size_t waited = 0, triggered = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    const std::string ptx = KernelWriter(seed).write();
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Instrumented done = instrument(ptx::ParsedModule::parse(ptx, "random.ptx"));
    ASSERT_NE(done.module, nullptr) << done.kernels[0].obstacle;
    const Ran plain = run(device, ptx, false);
    const Ran traced = run(device, done.module->text(), true);
    EXPECT_EQ(plain.results, traced.results);
    EXPECT_THAT(plain.records, IsEmpty());
    expect_true(traced);
    EXPECT_THAT(device.findings(), IsEmpty());
    if (HasFailure()) FAIL() << ptx;
    for (const BlockRecord& record : traced.records) {
      waited += record.wait_begin_clock != 0;
      triggered += record.trigger_clock != 0;
    }
    if (ptxas && seed % 10 == 0) {
      const auto [taken, log] = assemble(*ptxas, done.module->text(), "sm_90", "-O3");
      EXPECT_TRUE(taken) << log;
    }
  }
  EXPECT_GT(waited, 100u);
  EXPECT_GT(triggered, 50u);
}

// Later waits and triggers of a thread do nothing, and are not noted.
TEST_F(InstrumentedRun, TheFirstWaitAndTheFirstTriggerCount) {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n  .reg .pred %p;\n"
      "  .reg .b32 %r<3>;\n  mov.u32 %r1, 0;\n  mov.u32 %r2, 1;\nagain:\n"
      "  griddepcontrol.wait;\n  griddepcontrol.launch_dependents;\n"
      "  mad.lo.u32 %r2, %r2, %r2, %r1;\n  add.u32 %r1, %r1, 1;\n"
      "  setp.lt.u32 %p, %r1, 5000;\n  @%p bra again;\n"
      "  setp.eq.u32 %p, %r2, 0;\n  @%p trap;\n  ret;\n}\n";
  const Instrumented done = instrument(ptx::ParsedModule::parse(ptx, "loop.ptx"));
  ASSERT_NE(done.module, nullptr) << done.kernels[0].obstacle;
  for (const BlockRecord& record : run(open_device(), done.module->text(), true).records) {
    // The simulated GPU runs one warp after another: the last of three begins at two thirds.
    const std::uint64_t most = (record.exit_clock - record.entry_clock) / 10 * 9;
    EXPECT_LT(record.wait_begin_clock - record.entry_clock, most);
    EXPECT_LT(record.wait_end_clock - record.entry_clock, most);
    EXPECT_LT(record.trigger_clock - record.entry_clock, most);
  }
}

// A launch that is not traced passes no records.
TEST_F(InstrumentedRun, WithoutRecordsNothingIsNoted) {
  const Device device = open_device();
  const std::string ptx = KernelWriter(5).write();
  const Instrumented done = instrument(ptx::ParsedModule::parse(ptx, "random.ptx"));
  const Ran plain = run(device, ptx, false);
  const Module module = Module::load(device, Image::from_bytes(done.module->text(), "random.ptx"));
  const Stream stream(device);
  const Buffer<Result> out(device, kBlocks * kThreads);
  for (const bool by_plan : {false, true}) {
    out.memory().fill(0, 4, 2 * kBlocks * kThreads, 0, stream);
    const LaunchConfig config{.grid = kBlocks, .block = kThreads, .shared = 256, .stream = stream};
    if (by_plan) {
      LaunchPlan::make(module.kernel("k"), config, out, 7u).launch();
    } else {
      module.kernel("k").launch(config, out, 7u);
    }
    std::vector<Result> results(kBlocks * kThreads);
    out.download(Span<Result>(results.data(), results.size()), stream);
    stream.synchronize();
    EXPECT_EQ(results, plain.results);
  }
  EXPECT_THAT(device.findings(), IsEmpty());
}

TEST_F(InstrumentedRun, ClocksOfTheMultiprocessorsAreRead) {
  const Device device = open_device();
  const Stream stream(device);
  const ClockEdges before = read_clock_edges(device, stream);
  const ClockEdges after = read_clock_edges(device, stream);
  EXPECT_EQ(before.size(), device.limits().multiprocessors);
  for (const auto& [sm, edges] : before) {
    ASSERT_EQ(edges.size(), 16u);
    for (std::size_t k = 1; k < edges.size(); ++k) {
      EXPECT_LT(edges[k - 1].time, edges[k].time) << sm;
      EXPECT_LT(edges[k - 1].clock, edges[k].clock) << sm;
    }
  }
  // Blocks that began with the edges' times.
  std::vector<BlockRecord> records;
  for (const auto& [sm, edges] : after) {
    BlockRecord& record = records.emplace_back();
    record.place = sm + 1;
    record.entry_time = edges[3].time;
    record.entry_clock = edges[3].clock;
  }
  const SmClocks clocks(before, after, records, 1.0);
  EXPECT_GT(clocks.step(), 0u);
  // Reading the time and the clock takes some nanoseconds.
  EXPECT_LT(clocks.disagreement(), 50);
  for (const BlockRecord& record : records) {
    EXPECT_NEAR(clocks.time_of(record, record.entry_clock),
                static_cast<double>(record.entry_time - clocks.origin()),
                static_cast<double>(clocks.step()) + 50)
        << record.multiprocessor();
  }
}

}  // namespace
}  // namespace baton::trace::instrumented_run_test
