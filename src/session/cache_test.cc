#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "baton/buffer.h"
#include "session/test_program.h"

// The role cache: rows below a counter that launches read before their wait.

namespace baton::session_test::cache_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Variant {
  std::string role = R"(role = "cache", frozen = "pos[0]")";
  std::string last_early = "pos[0]";  // attend reads the rows below that before its wait
  std::string appended = "pos[0]";    // the row that append writes
  std::string width = "32";           // floats of a row
  std::string more = "";              // steps before
};

// append writes row pos[0], attend sums the rows up to that one, bump counts.
std::string text(const Variant& variant) {
  return fmt::format(
      R"(
[symbols]
T = 8
W = {width}
[buffers]
x = {{ dtype = "f32", shape = ["W"], role = "input", init = "random" }}
kv = {{ dtype = "f32", shape = ["T", "W"], {role}, init = "random" }}
pos = {{ dtype = "i32", shape = [1], role = "state", init = "ones" }}
y = {{ dtype = "f32", shape = ["W"], role = "output" }}
[kernels.append]
text = '''
extern "C" __global__ void append(const float* x, float* kv, const int* pos, int w) {{
  asm volatile("griddepcontrol.wait;" ::: "memory");
  kv[({appended}) * w + threadIdx.x] = x[threadIdx.x];
}}'''
[kernels.attend]
text = '''
extern "C" __global__ void attend(const float* kv, const int* pos, float* y, int w) {{
  float sum = 0;
  for (int row = 0; row < ({last_early}); ++row) sum += kv[row * w + threadIdx.x];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[threadIdx.x] = sum + kv[pos[0] * w + threadIdx.x];
}}'''
[kernels.bump]
text = '''
extern "C" __global__ void bump(int* pos) {{
  asm volatile("griddepcontrol.wait;" ::: "memory");
  pos[0] += 1;
}}'''
{more}
[[steps]]
launch = "append"
grid = [1]
block = ["W"]
args = ["x", "kv", "pos", "W"]
[[steps]]
launch = "attend"
grid = [1]
block = ["W"]
args = ["kv", "pos", "y", "W"]
[[steps]]
launch = "bump"
grid = [1]
block = [1]
args = ["pos"]
)",
      fmt::arg("width", variant.width), fmt::arg("role", variant.role),
      fmt::arg("appended", variant.appended), fmt::arg("last_early", variant.last_early),
      fmt::arg("more", variant.more));
}

class CacheTest : public DeviceTest {};

Executable prepared(const Variant& variant) {
  Executable executable = Executable::prepare(program(text(variant)), open_device());
  executable.bind();
  return executable;
}

// The kinds of what a run finds.
std::vector<std::string> kinds(const Variant& variant) {
  Executable executable = prepared(variant);
  try {
    executable.run();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kFault) << failure.message();
  }
  std::vector<std::string> found;
  for (const FindingReport& finding : executable.report().findings) found.push_back(finding.kind);
  return found;
}

const EdgeReport& edge(const Executable& executable, std::uint32_t to) {
  for (const EdgeReport& each : executable.edges()) {
    if (each.to == to) return each;
  }
  throw Error(ErrorCode::kNotFound, "no edge");
}

TEST_F(CacheTest, RowsBelowTheCounterMayBeReadEarly) {
  Executable executable = prepared({});
  EXPECT_EQ(edge(executable, 1).verdict, EdgeVerdict::kProven);
  EXPECT_THAT(edge(executable, 1).reason, HasSubstr("except for frozen rows of kv"));
  EXPECT_EQ(edge(executable, 2).verdict, EdgeVerdict::kProven);
  EXPECT_THAT(edge(executable, 2).reason, Not(HasSubstr("frozen")));
  if (executable.device().architecture() >= 90) {
    EXPECT_TRUE(edge(executable, 1).programmatic);
  }
  for (int run = 0; run < 3; ++run) {
    executable.run();
    EXPECT_THAT(executable.report().findings, IsEmpty());
    EXPECT_EQ(values<std::int32_t>(executable.output("pos"))[0], run + 2) << "it is kept";
  }
  const std::vector<float> kv = values<float>(executable.output("kv"));
  const std::vector<float> y = values<float>(executable.output("y"));
  EXPECT_FLOAT_EQ(y[5], kv[5] + kv[32 + 5] + kv[64 + 5] + kv[96 + 5]);
}

TEST_F(CacheTest, AStateHasNoFrozenRows) {
  Executable executable = prepared({.role = R"(role = "state")"});
  EXPECT_EQ(edge(executable, 1).verdict, EdgeVerdict::kUnknown);
  EXPECT_FALSE(edge(executable, 1).programmatic);
}

TEST_F(CacheTest, RowsThatShareALineAreNotFrozen) {
  EXPECT_EQ(edge(prepared({.width = "16"}), 1).verdict, EdgeVerdict::kUnknown);
}

// Memory of the caller that begins inside of a line has no frozen rows, however it comes to be the
// cache's.
TEST_F(CacheTest, RowsOfGivenMemoryThatShareALineAreNotFrozen) {
  const Device device = open_device();
  const Buffer<float> memory(device, 512);
  const auto at = [&](std::size_t first) {
    return DeviceArray{DType::kF32, {8, 32}, memory.memory().address() + first * sizeof(float)};
  };
  Executable executable = Executable::prepare(program(text({})), device);
  executable.bind({.memory = {{"kv", at(0)}}});
  EXPECT_EQ(edge(executable, 1).verdict, EdgeVerdict::kProven);
  executable.set_memory("kv", at(16));
  EXPECT_EQ(edge(executable, 1).verdict, EdgeVerdict::kUnknown);
  EXPECT_FALSE(edge(executable, 1).programmatic);
  executable.set_memory("kv", at(128));
  EXPECT_EQ(edge(executable, 1).verdict, EdgeVerdict::kProven);
}

TEST_F(CacheTest, ACounterThatMayStillChangeFreezesNothing) {
  const Variant variant = {.more = R"([[steps]]
launch = "bump"
grid = [1]
block = [1]
args = ["pos"])"};
  const Executable executable = prepared(variant);
  EXPECT_EQ(edge(executable, 1).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(edge(executable, 2).verdict, EdgeVerdict::kUnknown) << edge(executable, 2).reason;
}

TEST_F(CacheTest, TheRowOfThisStepIsNotFrozen) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU finds nothing";
  const std::vector<std::string> found = kinds({.last_early = "pos[0] + 1"});
  EXPECT_THAT(found, Contains("unfrozen_read"));
  EXPECT_THAT(found, Contains("read_before_wait"));
}

TEST_F(CacheTest, ARowThatNoLaunchWritesIsNotFrozen) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "a GPU finds nothing";
  Executable executable = prepared({.last_early = "pos[0] + 3"});
  EXPECT_THROW(executable.run(), Error);
  bool is_found = false;
  for (const FindingReport& finding : executable.report().findings) {
    if (finding.kind != "unfrozen_read") continue;
    is_found = true;
    EXPECT_EQ(finding.kernel, "attend");
    EXPECT_THAT(finding.message, HasSubstr("pos[0] is 1"));
    EXPECT_THAT(finding.message, HasSubstr("buffer kv"));
    EXPECT_TRUE(finding.error);
  }
  EXPECT_TRUE(is_found);
}

TEST_F(CacheTest, FrozenRowsAreNotWritten) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU finds nothing";
  EXPECT_THAT(kinds({.appended = "pos[0] - 1"}), Contains("frozen_write"));
}

// Nothing else makes the simulated GPU look at accesses of this program.
TEST_F(CacheTest, FrozenRowsAreNotWrittenByLaunchesWithFullEdges) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU finds nothing";
  Executable executable = Executable::prepare(program(text({.appended = "pos[0] - 1"})),
                                              open_device(), {.pdl = PdlMode::kOff});
  EXPECT_THROW(executable.run(), Error);
  EXPECT_EQ(executable.report().findings.at(0).kind, "frozen_write");
}

TEST_F(CacheTest, RowsAreCountedAlongAnAxis) {
  // The same memory as four layers of two rows: row 1 of each layer is appended, and row 0 frozen.
  const std::string role = R"(role = "cache", frozen = { count = "pos[0]", axis = 1 })";
  std::string changed = text({.role = role});
  const std::string shape = R"(kv = { dtype = "f32", shape = ["T", "W"])";
  changed.replace(changed.find(shape), shape.size(),
                  R"(kv = { dtype = "f32", shape = ["T / 2", 2, "W"])");
  Executable executable = Executable::prepare(program(changed), open_device());
  executable.run();
  EXPECT_THAT(executable.report().findings, IsEmpty());
  if (!is_simulated(executable.device())) return;
  // The counter is 2 then: all rows of all layers are frozen.
  EXPECT_THROW(executable.run(), Error);
  EXPECT_EQ(executable.report().findings.at(0).kind, "frozen_write");
}

TEST_F(CacheTest, ACounterBelowZeroFreezesNothing) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU finds nothing";
  Executable executable = prepared({.appended = "0"});
  executable.bind({.inputs = {{"pos", array<std::int32_t>(DType::kI32, {1}, {-5})}}});
  try {
    executable.run();
  } catch (const Error&) {
    // attend reads row -5, out of bounds.
  }
  for (const FindingReport& finding : executable.report().findings) {
    EXPECT_NE(finding.kind, "frozen_write");
  }
}

TEST_F(CacheTest, IsResetLikeAState) {
  Executable executable = prepared({});
  executable.run();
  const Stream stream(executable.device());
  executable.reset("kv", stream);
  executable.reset("pos", stream);
  stream.synchronize();
  executable.run();
  EXPECT_EQ(values<std::int32_t>(executable.output("pos"))[0], 2);
}

TEST_F(CacheTest, SaysWhatIsWrong) {
  const auto message = [](const std::string& role) {
    return refusal(text({.role = role})).message();
  };
  EXPECT_THAT(message(R"(role = "cache")"), HasSubstr("has the role cache and no frozen rows"));
  EXPECT_THAT(message(R"(role = "state", frozen = "pos[0]")"), HasSubstr("only a cache has"));
  EXPECT_THAT(message(R"(role = "cache", frozen = "pso[0]")"), HasSubstr("did you mean \"pos\""));
  EXPECT_THAT(message(R"(role = "cache", frozen = "pos")"), HasSubstr("as \"pos[0]\""));
  EXPECT_THAT(message(R"(role = "cache", frozen = "pos[-1]")"), HasSubstr("as \"pos[0]\""));
  EXPECT_THAT(message(R"(role = "cache", frozen = "pos[1]")"), HasSubstr("pos has 1 element"));
  EXPECT_THAT(message(R"(role = "cache", frozen = "x[0]")"), HasSubstr("a counter is an integer"));
  EXPECT_THAT(message(R"(role = "cache", frozen = { count = "pos[0]", axis = 2 })"),
              HasSubstr("along axis 2, and it has 2 dimensions"));
}

TEST_F(CacheTest, ComesBackFromAProgramFile) {
  for (const char* role : {R"(role = "cache", frozen = "pos[0]")",
                           R"(role = "cache", frozen = { count = "pos[0]", axis = 1 })"}) {
    const Program read = program(text({.role = role}));
    EXPECT_EQ(Program::from_text(read.to_toml(), "test.toml", read.directory()), read);
  }
}

}  // namespace
}  // namespace baton::session_test::cache_test
