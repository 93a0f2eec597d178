#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "baton/program.h"
#include "program/reader/good_program_test.h"

// Everything of a program file that can be wrong before a device is known: one error, its kind, its
// place, and what it says.

namespace baton::bad_program_test {
namespace {

using ::testing::HasSubstr;

struct Bad {
  const char* from;
  const char* to;
  ErrorCode code;
  const char* place;  // line:column; empty: the file alone
  const char* message;
};

void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.from << " -> " << bad.to;
}

class BadProgram : public ::testing::TestWithParam<Bad> {};

TEST_P(BadProgram, IsRefused) {
  const Bad& bad = GetParam();
  std::string text = kGoodProgram;
  const std::size_t at = text.find(bad.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bad.from).size(), bad.to);
  try {
    Program::from_text(text, "p.toml");
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(to_string(failure.code()), to_string(bad.code)) << failure.what();
    EXPECT_EQ(exit_status(failure.code()), 2);
    EXPECT_THAT(failure.message(), HasSubstr(bad.message));
    const std::string place = bad.place;
    EXPECT_EQ(failure.where().to_string(), place.empty() ? "p.toml" : "p.toml:" + place)
        << failure.what();
  }
}

TEST(BadProgram, CudaSourceIsToldWhereItGoes) {
  try {
    Program::from_text("struct Shape { int rows; };", "k.cu");
    FAIL() << "it was accepted";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("baton compile makes an image of it"));
  }
}

// A bundle without its first bytes is read as a program.
TEST(BadProgram, WhatIsLeftOfABundleIsToldAsSuch) {
  for (const char* text : {"", "TONINDEX\xff", "x"}) {
    try {
      Program::from_text(text, "model.baton");
      FAIL() << "it was accepted";
    } catch (const Error& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("build the bundle again, or copy it again")) << text;
    }
  }
}

constexpr ErrorCode kInvalid = ErrorCode::kInvalidInput;
constexpr ErrorCode kNotFound = ErrorCode::kNotFound;

INSTANTIATE_TEST_SUITE_P(
    Toml, BadProgram,
    ::testing::Values(
        Bad{"name = \"p\"", "name = ", kInvalid, "1:8", "not TOML"},
        Bad{"N = 4", "N = 4\nN = 5", kInvalid, "4:5", "not TOML"},
        Bad{"N = 4", "N = 4\nNż = 5", kInvalid, "4:2", "not TOML"},
        Bad{"[[steps]]", "[steps]\n[[steps]]", kInvalid, "16:1", "not TOML"},
        Bad{"name = \"p\"", "names = \"p\"", kInvalid, "1:1", "did you mean \"name\"?"},
        Bad{"name = \"p\"", "name = 5", kInvalid, "1:8", "name of the program must be a string"},
        Bad{"name = \"p\"", "name = \" \"", kInvalid, "", "the program's name is empty"},
        Bad{"name = \"p\"",
            "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i."
            "j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = 1",
            kInvalid, "1", "more than 64 parts"},
        Bad{"[symbols]", "[symbol]", kInvalid, "2:2", "did you mean \"symbols\"?"},
        Bad{"N = 4", "N = 4.5", kInvalid, "3:5", "the symbol N must be an integer, not a float"},
        Bad{"N = 4", "N = \"4\"", kInvalid, "3:5", "not a string"},
        Bad{"N = 4", "n-1 = 4", kInvalid, "3:1", "\"n-1\" is not a name"},
        Bad{"N = 4", "min = 4", kInvalid, "3:1", "has the name of a function"},
        Bad{"N = 4", "N = 4\nx = 1", kInvalid, "5:10", "has the name of a symbol already, at"},
        Bad{"N = 4", "N = 1979-05-27", kInvalid, "3:5", "not a date or time"}));

INSTANTIATE_TEST_SUITE_P(
    Requirements, BadProgram,
    ::testing::Values(
        Bad{"name = \"p\"", "require = [\"N\"]", kInvalid, "1:13",
            "\"N\" is not a comparison; write ==, !=, <, <=, > or >="},
        Bad{"name = \"p\"", "require = [\"N = 4\"]", kInvalid, "1:15",
            "write == for \"is equal to\""},
        Bad{"name = \"p\"", "require = [\"N =< 4\"]", kInvalid, "1:15", "write == for"},
        Bad{"name = \"p\"", "require = [\"N ! 4\"]", kInvalid, "1:15", "is not a comparison"},
        Bad{"name = \"p\"", "require = [\"N > \"]", kInvalid, "1:16",
            "lacks an expression on one side"},
        Bad{"name = \"p\"", "require = [\"0 < N < 4\"]", kInvalid, "1:19", "found \"<\""},
        Bad{"name = \"p\"", "require = [\"N < M\"]", kNotFound, "1:17", "unknown symbol \"M\""},
        Bad{"name = \"p\"", "require = [\"N < x\"]", kInvalid, "1:17", "x is a buffer"},
        Bad{"name = \"p\"", "require = [4]", kInvalid, "1:12", "must be a comparison in a string"},
        Bad{"name = \"p\"", "require = \"N < 4\"", kInvalid, "1:11",
            "must be a table or an array of comparisons, not a string"},
        Bad{"name = \"p\"", "require = { a = 4 }", kInvalid, "1:17", "not an integer"}));

INSTANTIATE_TEST_SUITE_P(
    Inits, BadProgram,
    ::testing::Values(
        Bad{"init = \"zeros\"", "init = \"normal\"", kInvalid, "8:8",
            "lacks its numbers; write init = { normal = 0.02 }"},
        Bad{"init = \"zeros\"", "init = { norml = 1 }", kInvalid, "8:10",
            "did you mean \"normal\"?"},
        Bad{"init = \"zeros\"", "init = {}", kInvalid, "8:8", "has 0 distributions"},
        Bad{"init = \"zeros\"", "init = { normal = 1, uniform = [0, 1] }", kInvalid, "8:8",
            "has 2 distributions"},
        Bad{"init = \"zeros\"", "init = { normal = \"1\" }", kInvalid, "8:19",
            "must be a number, not a string"},
        Bad{"init = \"zeros\"", "init = { normal = 0 }", kInvalid, "4:10",
            "the standard deviation is 0; it must be above 0"},
        Bad{"init = \"zeros\"", "init = { normal = nan }", kInvalid, "4:10", "must be above 0"},
        Bad{"init = \"zeros\"", "init = { normal = 1e38 }", kInvalid, "4:10", "f32 holds no 6e+38"},
        Bad{"init = \"zeros\"", "init = { uniform = 1 }", kInvalid, "8:20",
            "must be an array of two numbers"},
        Bad{"init = \"zeros\"", "init = { uniform = [1, 1] }", kInvalid, "4:10",
            "uniform from 1 to 1 has no values"},
        Bad{"init = \"zeros\"", "init = { uniform = [-inf, 1] }", kInvalid, "4:10",
            "has no values"},
        Bad{"role = \"weight\"", "init = { uniform = [0, 2147483648] }", kInvalid, "9:10",
            "i32 does not hold 2147483648"},
        Bad{"role = \"weight\"", "init = { uniform = [0.5, 1] }", kInvalid, "9:10",
            "i32 does not hold 0.5"},
        Bad{"role = \"weight\"", "init = { uniform = [2, 1] }", kInvalid, "9:10",
            "the first must not be greater"},
        Bad{"role = \"weight\"", "init = { normal = 1 }", kInvalid, "9:10",
            "normal makes fractions, and the dtype is i32"},
        Bad{"role = \"input\"", "role = \"input\"\nexpect = \"x.npy\"", kInvalid, "4:10",
            "has expect = \"x.npy\" and the role input; output, inout, state and cache buffers"}));

INSTANTIATE_TEST_SUITE_P(
    Buffers, BadProgram,
    ::testing::Values(
        Bad{"dtype = \"f32\"", "dtype = \"fp32\"", kInvalid, "5:9",
            "unknown dtype \"fp32\" of buffer x; did you mean \"f32\"?"},
        Bad{"dtype = \"f32\"\n", "\n", kInvalid, "4:1", "buffer x lacks \"dtype\""},
        Bad{"dtype = \"f32\"", "dtype = 32", kInvalid, "5:9", "must be a string, not an integer"},
        Bad{"shape = [\"N\"]\n", "\n", kInvalid, "4:1", "buffer x lacks \"shape\""},
        Bad{"dtype = \"f32\"", "dtype = \"half\"", kInvalid, "5:9",
            "unknown dtype \"half\" of buffer x; did you mean \"f16\"?"},
        Bad{"shape = [\"N\"]", "shape = true", kInvalid, "6:9",
            "must be an expression or an array of expressions, not a boolean"},
        Bad{"shape = [\"N\"]", "shape = [1.5]", kInvalid, "6:10",
            "an integer or an expression in a string, not a float"},
        Bad{"shape = [\"N\"]", "shape = [\"2*M\"]", kNotFound, "6:13",
            "unknown symbol \"M\"; known: N"},
        Bad{"shape = [\"N\"]", "shape = [\"2*w\"]", kInvalid, "6:13", "w is a buffer"},
        Bad{"shape = [\"N\"]", "shape = [\"i\"]", kNotFound, "6:11", "unknown symbol \"i\""},
        Bad{"shape = [\"N\"]", "shape = [-1]", kInvalid, "6:10", "is -1, it must be at least 0"},
        Bad{"shape = [\"N\"]", "shape = [\"N +\"]", kInvalid, "6:14", "found the end"},
        Bad{"shape = [\"N\"]", "shape = [\"\"\"N +\"\"\"]", kInvalid, "6:16", "found the end"},
        Bad{"shape = [\"N\"]", "shape = [\"\\u004E +\"]", kInvalid, "6", "found the end"},
        Bad{"shape = [\"N\"]", "shape = [\"N\", ]\nshap = 1", kInvalid, "7:1",
            "unknown key \"shap\" in buffer x; did you mean \"shape\"?"},
        Bad{"role = \"input\"", "role = \"inputs\"", kInvalid, "7:8",
            "unknown role \"inputs\" of buffer x; did you mean \"input\"?"},
        Bad{"init = \"zeros\"", "init = \"zeroes\"", kInvalid, "8:8", "did you mean \"zeros\"?"},
        Bad{"init = \"zeros\"", "init = \"none\"", kInvalid, "8:8", "unknown init \"none\""},
        Bad{"init = \"zeros\"", "init = \"zeros\"\nfile = \"x.npy\"", kInvalid, "9:8",
            "has both init = \"zeros\" and file = \"x.npy\""},
        Bad{"init = \"zeros\"", "file = \"\"", kInvalid, "8:8", "file of buffer x is not a path"},
        Bad{"init = \"zeros\"", "file = \"a\\u0000b\"", kInvalid, "8:8", "is not a path"},
        Bad{"[buffers.w]", "[buffers.\"w 2\"]", kInvalid, "9:10", "is not a name"},
        Bad{"[buffers.w]", "[buffers.sqrt]", kInvalid, "9:10", "the name of a function"},
        Bad{"[buffers.w]",
            "[buffers.t]\ndtype = \"f32\"\nshape = [1]\nrole = \"weight\"\n"
            "file = \"m.safetensors\"\ntensor = \"\"\n[buffers.w]",
            kInvalid, "14:10", "buffer t has tensor = \"\"; name a tensor"},
        Bad{"[buffers.w]", "[buffers]\nv = 3\n[buffers.w]", kInvalid, "10:5",
            "buffer v must be a table, not an integer"}));

INSTANTIATE_TEST_SUITE_P(
    Kernels, BadProgram,
    ::testing::Values(
        Bad{"source = \"k.cu\"", "sources = \"k.cu\"", kInvalid, "14:1",
            "unknown key \"sources\" in kernel k; did you mean \"source\"?"},
        Bad{"source = \"k.cu\"", "entry = \"k\"", kInvalid, "13:1",
            "lacks its code: one of source, text, ptx, cubin, fatbin and link"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\nptx = \"k.ptx\"", kInvalid, "15:7",
            "has both source and ptx"},
        Bad{"source = \"k.cu\"", "link = []", kInvalid, "14:8",
            "kernel k has link = []; name the sources and images to link"},
        Bad{"source = \"k.cu\"", "text = \"  \"", kInvalid, "13:10", "kernel k has no text"},
        Bad{"source = \"k.cu\"", "ptx = \"k.ptx\"\noptions = [\"-DA\"]", kInvalid, "13:10",
            "has options, which is for the compiler, but comes as ptx"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\noptions = [3]", kInvalid, "15:12",
            "must be an array of strings"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\noptions = \"-DA\"", kInvalid, "15:11",
            "must be an array of strings, not a string"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\nlaunch = { grid = [1] }", kInvalid, "15:19",
            "grid is in the launch of kernel k: it belongs in the steps"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\nlaunch = { share = 1 }", kInvalid, "15:12",
            "did you mean \"shared\"?"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\nlaunch = { shared = \"i\" }", kNotFound,
            "15:22", "unknown symbol \"i\""},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\nlaunch = { priorty = 1 }", kInvalid, "15:12",
            "did you mean \"priority\"?"},
        Bad{"source = \"k.cu\"", "source = \"k.cu\"\nlaunch = { priority = \"i\" }", kNotFound,
            "15:24", "unknown symbol \"i\""},
        Bad{"[kernels.k]", "[kernels.\" \"]", kInvalid, "13:10", "a kernel has an empty name"},
        Bad{"launch = \"k\"", "launch = \"kk\"", kNotFound, "15:1", "unknown kernel \"kk\""}));

INSTANTIATE_TEST_SUITE_P(
    Launches, BadProgram,
    ::testing::Values(
        Bad{"grid = [1]\n", "\n", kInvalid, "15:1", "step 0 lacks \"grid\""},
        Bad{"grid = [1]", "grid = []", kInvalid, "17:8", "must have 1 to 3 extents, not 0"},
        Bad{"grid = [1]", "grid = [1, 1, 1, 1]", kInvalid, "17:8",
            "grid of step 0 must have 1 to 3 extents, not 4"},
        Bad{"grid = [1]", "grid = [0]", kInvalid, "17:9",
            "grid.x of the launch of k is 0, it must be at least 1"},
        Bad{"grid = [1]", "grid = [\"-1\"]", kInvalid, "17:10",
            "grid.x of the launch of k is -1, it must be at least 1"},
        Bad{"grid = [1]", "grid = [\"x\"]", kInvalid, "17:10", "x is a buffer"},
        Bad{"grid = [1]", "grid = [\"i\"]", kNotFound, "17:10", "unknown symbol \"i\""},
        Bad{"grid = [1]", "gird = [1]", kInvalid, "17:1", "did you mean \"grid\"?"},
        Bad{"block = [32]", "block = [32, 0]", kInvalid, "18:14",
            "block.y of the launch of k is 0"},
        Bad{"block = [32]", "block = []", kInvalid, "18:9", "1 to 3 extents, not 0"},
        Bad{"block = [32]", "block = [32]\nshared = -1", kInvalid, "19:10", "is -1"},
        Bad{"block = [32]", "block = [32]\ncluster = [0]", kInvalid, "19:12",
            "cluster.x is 0, it takes an integer from 1"},
        Bad{"block = [32]", "block = [32]\ncluster = true", kInvalid, "19:11",
            "cluster of step 0 must be an expression or an array of expressions, not a boolean"},
        Bad{"block = [32]", "block = [32]\ncluster = []", kInvalid, "19:11",
            "cluster of step 0 must have 1 to 3 extents, not 0"},
        Bad{"block = [32]", "block = [32]\ncluster = [1, 1, 1, 1]", kInvalid, "19:11",
            "1 to 3 extents, not 4"},
        Bad{"block = [32]", "block = [32]\ncluster = [\"M\"]", kNotFound, "19:13",
            "unknown symbol \"M\""},
        Bad{"block = [32]", "block = [32]\ncluster = [1.5]", kInvalid, "19:12",
            "cluster.x must be an integer or an expression in quotes"},
        Bad{"block = [32]", "block = [32]\ncluster = [[1]]", kInvalid, "19:12",
            "cluster of step 0 must be a string, a number or a boolean, not an array"},
        Bad{"block = [32]", "block = [32]\ncooperative = 0", kInvalid, "19:15",
            "cooperative must be true or false"},
        Bad{"block = [32]", "block = [32]\npriority = true", kInvalid, "19:12",
            "priority must be an integer or an expression in quotes"},
        Bad{"block = [32]", "block = [32]\npriority = 3000000000", kInvalid, "19:12",
            "priority is 3000000000, it takes an integer from"},
        Bad{"block = [32]", "block = [32]\ncluster_scheduling_policy = \"spred\"", kInvalid,
            "19:30", "did you mean \"spread\"?"},
        Bad{"block = [32]", "block = [32]\ncluster_scheduling_policy = 1", kInvalid, "19:29",
            "must be a name in quotes"},
        Bad{"block = [32]", "block = [32]\npreferred_shared_memory_carveout = 101", kInvalid,
            "19:36", "is 101, it takes an integer from 0 to 100"},
        Bad{"block = [32]", "block = [32]\nmem_sync_domain_map = { default = 0 }", kInvalid, "19:1",
            "mem_sync_domain_map.remote is missing"},
        Bad{"block = [32]", "block = [32]\nmem_sync_domain_map = { default = 0, remot = 1 }",
            kInvalid, "19:46", "did you mean \"remote\"?"},
        Bad{"block = [32]", "block = [32]\nmem_sync_domain_map = [0, 1]", kInvalid, "19:23",
            "must be a table of its fields, not an array"},
        Bad{"block = [32]", "block = [32]\naccess_policy_window = { buffer = \"q\" }", kNotFound,
            "19:36", "unknown buffer \"q\""},
        Bad{"block = [32]", "block = [32]\naccess_policy_window = { buffer = 4 }", kInvalid,
            "19:35", "access_policy_window.buffer must be a buffer's name"},
        Bad{"block = [32]", "block = [32]\naccess_policy_window = { base_ptr = \"x\" }", kInvalid,
            "19:38", "access_policy_window has no field \"base_ptr\"; known: buffer"},
        Bad{"block = [32]",
            "block = [32]\naccess_policy_window = { buffer = \"x\", num_bytes = 4, hit_ratio = "
            "1.5, "
            "hit_prop = \"normal\" }",
            kInvalid, "19:67", "hit_ratio is 1.5"},
        Bad{"block = [32]", "block = [32]\nprogrammatic_event = {}", kInvalid, "19:22",
            "programmatic_event of step 0 must be a string"},
        Bad{"block = [32]", "block = [32]\nlaunch_completion_event = 1", kInvalid, "19:27",
            "launch_completion_event of step 0 must be a string"},
        Bad{"block = [32]", "block = [32]\nlaunch_completion_event = \"e\"", kInvalid, "15:1",
            "not itself a step of a branch"},
        Bad{"block = [32]", "block = [32]\nafter = \"e\"", kInvalid, "19:9",
            "after of step 0 must be an array of strings"},
        Bad{"block = [32]", "block = [32]\ndevice_updatable_node = true", kInvalid, "19:1",
            "does not return the node's handle"},
        Bad{"block = [32]", "block = [32]\nsynchronization_policy = true", kInvalid, "19:1",
            "an attribute of streams"},
        Bad{"block = [32]", "block = [32]\nprogrammatic_stream_serialization = false", kInvalid,
            "19:1", "write pdl ="},
        Bad{"block = [32]", "block = [32]\npriorty = 1", kInvalid, "19:1",
            "did you mean \"priority\"?"},
        Bad{"block = [32]", "block = [32]\npdl = \"maybe\"", kInvalid, "19:7",
            "unknown pdl \"maybe\""},
        Bad{"block = [32]", "block = [32]\nplacement = \"evn\"", kInvalid, "19:13",
            "did you mean \"even\"?"},
        Bad{"block = [32]", "block = [32]\nflops = -1", kInvalid, "19:9", "it must be at least 0"},
        Bad{"launch = \"k\"", "launch = \"k\"\ncopy = {}", kInvalid, "17:8",
            "has both launch and copy"},
        Bad{"launch = \"k\"", "lanch = \"k\"", kInvalid, "16:1", "did you mean \"launch\"?"}));

INSTANTIATE_TEST_SUITE_P(
    Arguments, BadProgram,
    ::testing::Values(
        Bad{"\"x + N\"", "\"y + N\"", kNotFound, "19:10", "unknown symbol \"y\""},
        Bad{"\"x + N\"", "\"xx\"", kNotFound, "19:10", "\"xx\" is not a buffer, symbol or index"},
        Bad{"\"x + N\"", "\"N + x\"", kInvalid, "19:14",
            "x is a buffer, in the expression \"N + x\"; a buffer comes first"},
        Bad{"\"x + N\"", "\"x - 1\"", kInvalid, "19:12",
            "only \"+ expression\" may follow the buffer x"},
        Bad{"\"x + N\"", "\"x + w\"", kInvalid, "19:14", "w is a buffer"},
        Bad{"\"x + N\"", "\"x + -1\"", kInvalid, "19:14", "the offset in x is -1"},
        Bad{"\"x + N\"", "\"x +\"", kInvalid, "19:13", "the expression is empty"},
        Bad{"\"x + N\"", "\"\"", kInvalid, "19:10", "the expression is empty"},
        Bad{"\"x + N\"", "{}", kInvalid, "19:9", "argument 0 of step 0 must have one key"},
        Bad{"\"x + N\"", "{ f32 = 1, i32 = 2 }", kInvalid, "19:9", "must have one key"},
        Bad{"\"x + N\"", "{ float = 1 }", kInvalid, "19:9", "the unknown type \"float\""},
        Bad{"\"x + N\"", "{ f31 = 1 }", kInvalid, "19:9", "did you mean \"f32\"?"},
        Bad{"\"x + N\"", "{ i32 = \"1.5\" }", kInvalid, "19:18", "1.5 is not an integer"},
        Bad{"\"x + N\"", "{ f32 = \"1/srqt(N)\" }", kInvalid, "19:20", "did you mean \"sqrt\"?"},
        Bad{"\"x + N\"", "{ f32 = \"M\" }", kNotFound, "19:18", "unknown symbol \"M\""},
        Bad{"\"x + N\"", "{ f32 = [] }", kInvalid, "19:17", "must have a number"},
        Bad{"\"x + N\"", "{ bytes = \"0\" }", kInvalid, "19:19", "not 1 digits"},
        Bad{"\"x + N\"", "{ bytes = \"\" }", kInvalid, "19:19", "not 0 digits"},
        Bad{"\"x + N\"", "{ bytes = \"0g\" }", kInvalid, "19:19", "\"0g\" among its bytes"},
        Bad{"\"x + N\"", "{ bytes = 3 }", kInvalid, "19:19", "as a string"},
        Bad{"\"x + N\"", "{ tensor_mat = {} }", kInvalid, "19:9", "did you mean \"tensor_map\"?"},
        Bad{"\"x + N\"", "[1]", kInvalid, "19:9", "not an array"},
        Bad{"args = [\"x + N\", \"N\"]", "args = \"x\"", kInvalid, "19:8",
            "must be an array of arguments, not a string"}));

// The table begins at 19:24.
INSTANTIATE_TEST_SUITE_P(
    TensorMaps, BadProgram,
    ::testing::Values(
        Bad{"\"x + N\"", "{ tensor_map = 1 }", kInvalid, "19:24",
            "tensor_map of argument 0 of step 0 must be a table, not an integer"},
        Bad{"\"x + N\"", "{ tensor_map = {} }", kInvalid, "19:24", "lacks \"buffer\""},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\" } }", kInvalid, "19:24", "lacks \"box\""},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", boks = [4] } }", kInvalid, "19:40",
            "unknown key \"boks\" in tensor_map of argument 0 of step 0; did you mean \"box\"?"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"q\", box = [4] } }", kNotFound, "19:36",
            "unknown buffer \"q\""},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x + -4\", box = [4] } }", kInvalid, "19:40",
            "the offset in x is -4"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [\"M\"] } }", kNotFound, "19:48",
            "unknown symbol \"M\""},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [0] } }", kInvalid, "19:47",
            "an extent in box of the tensor map is 0, it must be at least 1"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4, 4] } }", kInvalid, "19:9",
            "the tensor map of x has 1 dimensions and 2 extents in box"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", shape = [1,1,1,1,1,1], box = [4] } }",
            kInvalid, "19:48", "must have 1 to 5 extents, not 6"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], strides = [2, 1] } }",
            kInvalid, "19:9", "1 dimensions and 2 extents in strides"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], type = \"f16\" } }", kInvalid,
            "19:9", "the type f16 of 2 bytes, the buffer f32 of 4 bytes"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], type = \"tf31\" } }",
            kInvalid, "19:58", "unknown type \"tf31\""},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], swizzle = \"128\" } }",
            kInvalid, "19:61", "did you mean \"128b\"?"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], interleave = \"8b\" } }",
            kInvalid, "19:64", "unknown interleave \"8b\""},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], oob_fill = \"zero\" } }",
            kInvalid, "19:62", "did you mean \"zeros\"?"},
        Bad{"\"x + N\"", "{ tensor_map = { buffer = \"x\", box = [4], l2_promotion = 64 } }",
            kInvalid, "19:66", "must be a string"}));

INSTANTIATE_TEST_SUITE_P(
    OtherSteps, BadProgram,
    ::testing::Values(
        Bad{"from = \"x\", ", "", kInvalid, "21:8", "copy of step 1 lacks \"from\""},
        Bad{"from = \"x\"", "from = \"q\"", kNotFound, "21:18", "unknown buffer \"q\""},
        Bad{"from = \"x\"", "from = \"N\"", kInvalid, "21:18", "N is a symbol, where a buffer"},
        Bad{"from = \"x\"", "from = \"2 + x\"", kInvalid, "21:18", "expected the name of a buffer"},
        Bad{"from = \"x\"", "from = \"w\"", kInvalid, "20:1", "the dtypes i32 and f32 differ"},
        Bad{"from = \"x\", to = \"x + N\"", "from = \"w\", to = \"w\"", kInvalid, "20:1",
            "copy writes w, which has the role weight"},
        Bad{"count = \"N\"", "count = -1", kInvalid, "21:44", "is -1"},
        Bad{"count = \"N\"", "cont = 1", kInvalid, "21:36", "did you mean \"count\"?"},
        Bad{"buffer = \"x\", value = 0 }\n", "buffer = \"w\", value = 0 }\n", kInvalid, "22:1",
            "fill writes w, which has the role weight"},
        Bad{"buffer = \"x\", value = 0 }", "buffer = \"x\", value = 0.1 }", kInvalid, "22:1",
            "f32 does not hold 0.1 exactly"},
        Bad{"buffer = \"x\", value = 0 }", "buffer = \"x\", value = 16777217 }", kInvalid, "23:32",
            "f32 does not hold 16777217 exactly"},
        Bad{"buffer = \"x\", value = 0 }", "buffer = \"x\", value = [] }", kInvalid, "23:32",
            "must be an integer or an expression"},
        Bad{"buffer = \"x\", value = 0 }", "buffer = \"z\", value = 0 }", kNotFound, "22:1",
            "unknown buffer \"z\""},
        Bad{"repeat = 2", "repeat = -2", kInvalid, "25:10", "the count of the repeat is -2"},
        Bad{"repeat = 2", "repeat = \"i\"", kNotFound, "25:11", "unknown symbol \"i\""},
        Bad{"index = \"i\"", "index = \"\"", kInvalid, "26:9", "empty name"},
        Bad{"index = \"i\"", "index = \"N\"", kInvalid, "24:1", "has the name of a symbol already"},
        Bad{"index = \"i\"", "index = \"x\"", kInvalid, "24:1", "has the name of a buffer already"},
        Bad{"index = \"i\"", "index = \"j\"", kNotFound, "27:45", "unknown symbol \"i\""},
        Bad{"steps = [ {", "steps = [ 1, {", kInvalid, "27:11", "step 3.0 must be a table"},
        Bad{"steps = [ { fill = { buffer = \"x\", value = \"i\" } } ]", "steps = []", kInvalid,
            "24:1", "the repeat has no steps"},
        Bad{"steps = [ { fill = { buffer = \"x\", value = \"i\" } } ]", "steps = {}", kInvalid,
            "27:9", "steps must be an array of tables"},
        Bad{"steps = [ { fill = { buffer = \"x\", value = \"i\" } } ]", "\n", kInvalid, "24:1",
            "step 3 lacks \"steps\""},
        Bad{"repeat = 2\nindex = \"i\"\nsteps = [ { fill = { buffer = \"x\", value = \"i\" } } ]",
            "\n", kInvalid, "24:1", "step 3 is empty"}));

TEST(BadPrograms, TheGoodOneIsTaken) {
  EXPECT_NO_THROW(Program::from_text(kGoodProgram, "p.toml"));
}

// A sequence of nothing is a mistake of whoever wrote it: there is nothing to run or to prove.
TEST(BadPrograms, NoSteps) {
  for (const auto& [text, message] :
       {std::pair("", "lacks \"steps\""), std::pair("name = \"idle\"\n", "lacks \"steps\""),
        std::pair("name = \"idle\"\nsteps = []\n", "the program idle has no steps; give it")}) {
    try {
      Program::from_text(text, "idle.toml");
      ADD_FAILURE() << text;
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(refused.message(), HasSubstr(message));
      EXPECT_EQ(refused.where().file, "idle.toml");
    }
  }
}

TEST(BadPrograms, NoText) {
  const std::string elf = "\x7f" + std::string("ELF\2\1\0\0", 7) + std::string(70, '.');
  try {
    Program::from_text(elf, "k.cubin");
    FAIL() << "was not refused";
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(refused.message(), HasSubstr("a program file is text"));
    EXPECT_EQ(refused.where().to_string(), "k.cubin");
  }
}

TEST(BadPrograms, TooLarge) {
  EXPECT_THROW(Program::from_text(std::string(5 << 20, '#'), "p.toml"), Error);
}

TEST(BadPrograms, DeepKeysDoNotOverflowTheStack) {
  std::string keys = "a";
  for (int i = 0; i < 1000000; ++i) keys += ".a";
  EXPECT_THROW(Program::from_text(keys + " = 1", "p.toml"), Error);
  EXPECT_THROW(Program::from_text("[" + keys + "]", "p.toml"), Error);
  EXPECT_THROW(Program::from_text("x = { a = '''b'''', " + keys + " = 1 }", "p.toml"), Error);
  EXPECT_THROW(Program::from_text("x = \"\"\"\\\"\"\"\"\n" + keys + " = 1", "p.toml"), Error);
}

}  // namespace
}  // namespace baton::bad_program_test
