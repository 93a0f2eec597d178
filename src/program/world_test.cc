#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "baton/error.h"
#include "baton/program.h"

// Programs of several ranks: what is read, written and refused.

namespace baton::world_test {
namespace {

using ::testing::HasSubstr;

// One marked place of it is replaced. It stands on known lines.
constexpr const char* kGood =
    "[world]\n"                                                        // 1
    "ranks = 2\n"                                                      // 2
    "[symbols]\n"                                                      // 3
    "N = 4\n"                                                          // 4
    "[buffers.x]\n"                                                    // 5
    "dtype = \"f32\"\n"                                                // 6
    "shape = [\"N / ranks\"]\n"                                        // 7
    "role = \"inout\"\n"                                               // 8
    "shard = { axis = 0 }\n"                                           // 9
    "[buffers.all]\n"                                                  // 10
    "dtype = \"f32\"\n"                                                // 11
    "shape = [\"N\"]\n"                                                // 12
    "role = \"output\"\n"                                              // 13
    "[buffers.w]\n"                                                    // 14
    "dtype = \"bool\"\n"                                               // 15
    "shape = [1]\n"                                                    // 16
    "role = \"weight\"\n"                                              // 17
    "[[steps]]\n"                                                      // 18
    "all_reduce = { buffer = \"x + 1\", op = \"max\", count = 1 }\n"   // 19
    "[[steps]]\n"                                                      // 20
    "all_gather = { from = \"x\", to = \"all\" }\n"                    // 21
    "[[steps]]\n"                                                      // 22
    "reduce_scatter = { from = \"all\", to = \"x\", op = \"sum\" }\n"  // 23
    "[[steps]]\n"                                                      // 24
    "broadcast = { buffer = \"x\", root = \"ranks - 1\" }\n"           // 25
    "[[steps]]\n"                                                      // 26
    "send = { buffer = \"x\", to = \"rank + 1\" }\n"                   // 27
    "[[steps]]\n"                                                      // 28
    "receive = { buffer = \"x\", from = \"rank - 1\" }\n";             // 29

TEST(ProgramWorld, IsReadAndWritten) {
  const Program program = Program::from_text(kGood, "p.toml");
  ASSERT_TRUE(program.world());
  EXPECT_EQ(program.world()->ranks, 2);
  EXPECT_EQ(program.buffer("x")->shards, (std::vector<BufferShard>{{.axis = 0}}));
  ASSERT_NE(program.symbol("rank"), nullptr);
  EXPECT_EQ(program.symbol("rank")->value, 0);
  EXPECT_EQ(program.symbol("ranks")->value, 2);
  EXPECT_EQ(program.steps().size(), 6u);
  const auto& step = std::get<CollectiveStep>(program.steps()[0].action);
  EXPECT_EQ(step.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(step.op, ReduceOp::kMax);
  const std::string text = program.to_toml();
  EXPECT_THAT(text, HasSubstr("[world]\nranks = 2\n"));
  EXPECT_TRUE(Program::from_text(text, "p.toml") == program) << text;
  // Another program of its parts has the symbols once.
  EXPECT_TRUE(Program(program.definition()) == program);
  EXPECT_FALSE(program.warnings().size() > 1) << program.warnings()[1];
}

TEST(ProgramWorld, IsBuilt) {
  ProgramBuilder builder("p");
  builder.world();
  builder.buffer({.name = "x", .shape = {4}, .role = BufferRole::kInout, .shards = {{.axis = 0}}});
  builder.collective({.kind = CollectiveKind::kAllReduce, .buffer = "x"});
  builder.collective({.kind = CollectiveKind::kSend, .buffer = "x", .peer = symbol("rank") + 1});
  const Program program = builder.build();
  EXPECT_FALSE(program.world()->ranks);
  EXPECT_TRUE(Program::from_text(program.to_toml(), "p.toml") == program) << program.to_toml();
  ProgramBuilder other("p");
  other.include(program);
  EXPECT_TRUE(other.build() == program);
}

// One marked place of it is replaced.
constexpr const char* kEpilogue =
    "[world]\n"                                                      // 1
    "[buffers]\n"                                                    // 2
    "y = { dtype = \"bf16\", shape = [2, 8], role = \"inout\" }\n"   // 3
    "x = { dtype = \"bf16\", shape = [16], role = \"input\" }\n"     // 4
    "w = { dtype = \"bf16\", shape = [3, 8], role = \"weight\" }\n"  // 5
    "h = { dtype = \"bf16\", shape = [2, 8], role = \"output\" }\n"  // 6
    "n = { dtype = \"i32\", shape = [16], role = \"inout\" }\n"      // 7
    "one = { dtype = \"bf16\", shape = [], role = \"input\" }\n"     // 8
    "[[steps]]\n"                                                    // 9
    "copy = { from = \"one\", to = \"y\", count = 1 }\n"             // 10
    "[[steps]]\n"                                                    // 11
    "all_reduce = { buffer = \"n\" }\n"                              // 12
    "[[steps]]\n"                                                    // 13
    "all_reduce = { buffer = \"y\", op = \"sum\", add = \"x\", rms_norm = "
    "{ weight = \"w + 8\", epsilon = 1e-5, to = \"h\" } }\n";  // 14

TEST(ProgramEpilogue, IsReadAndWritten) {
  const Program program = Program::from_text(kEpilogue, "p.toml");
  const auto& step = std::get<CollectiveStep>(program.steps()[2].action);
  ASSERT_TRUE(step.add && step.rms_norm);
  EXPECT_EQ(*step.add, BufferOffset("x"));
  EXPECT_EQ(step.rms_norm->weight, BufferOffset("w + 8"));
  EXPECT_EQ(step.rms_norm->to, BufferOffset("h"));
  EXPECT_EQ(step.rms_norm->epsilon, 1e-5);
  const std::string text = program.to_toml();
  EXPECT_TRUE(Program::from_text(text, "p.toml") == program) << text;
  // Each part of it counts.
  for (const char* other : {"epsilon = 2e-5", "weight = \"w\"", "to = \"y + 1\"", "add = \"h\""}) {
    const std::string key(other, std::strchr(other, '=') - other);
    std::string changed = kEpilogue;
    const std::size_t at = changed.rfind(key);
    changed.replace(at, changed.find_first_of(",}", at) - at, std::string(other) + " ");
    EXPECT_FALSE(Program::from_text(changed, "p.toml") == program) << changed;
  }
}

TEST(ProgramEpilogue, IsBuilt) {
  ProgramBuilder builder("p");
  builder.world();
  builder.buffer({.name = "y", .shape = {2, 8}, .role = BufferRole::kInout});
  builder.buffer({.name = "x", .shape = {16}, .role = BufferRole::kInput});
  builder.buffer({.name = "w", .shape = {8}, .role = BufferRole::kWeight});
  builder.buffer({.name = "h", .shape = {16}, .role = BufferRole::kOutput});
  builder.collective({.kind = CollectiveKind::kAllReduce,
                      .buffer = "y",
                      .add = "x",
                      .rms_norm = RmsNorm{.weight = "w", .to = "h", .epsilon = 1e-6}});
  const Program program = builder.build();
  EXPECT_TRUE(Program::from_text(program.to_toml(), "p.toml") == program) << program.to_toml();
  // A step of another kind has none.
  builder.collective({.kind = CollectiveKind::kSend, .buffer = "y", .peer = 0, .add = "x"});
  EXPECT_THROW(builder.build(), Error);
}

struct BadWorld {
  const char* from;
  const char* to;
  const char* place;
  const char* message;
};

void PrintTo(const BadWorld& bad, std::ostream* out) {
  *out << bad.from << " -> " << bad.to;
}

class BadWorlds : public ::testing::TestWithParam<BadWorld> {};

void expect_refused(const BadWorld& bad, std::string text) {
  const std::size_t at = text.find(bad.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bad.from).size(), bad.to);
  try {
    Program::from_text(text, "p.toml");
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(exit_status(failure.code()), 2);
    EXPECT_THAT(failure.message(), HasSubstr(bad.message));
    EXPECT_EQ(failure.where().to_string(), std::string("p.toml:") + bad.place) << failure.what();
  }
}

TEST_P(BadWorlds, AreRefused) {
  expect_refused(GetParam(), kGood);
}

class BadEpilogues : public ::testing::TestWithParam<BadWorld> {};

TEST_P(BadEpilogues, AreRefused) {
  expect_refused(GetParam(), kEpilogue);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadEpilogues,
    ::testing::Values(
        BadWorld{"op = \"sum\"", "op = \"max\"", "13:1",
                 "add belongs to an all_reduce with op = \"sum\", not to all_reduce y with op = "
                 "\"max\""},
        BadWorld{"buffer = \"n\"", "buffer = \"n\", add = \"n\"", "11:1",
                 "add of the all_reduce of n needs f32, f16 or bf16, and n is i32"},
        BadWorld{
            "add = \"x\"", "add = \"n\"", "14:49",
            "add of the all_reduce of y: n is i32 and y is bf16; an epilogue does not convert"},
        BadWorld{"add = \"x\"", "add = \"xs\"", "14:49", "unknown buffer \"xs\""},
        BadWorld{"add = \"x\"", "ad = \"x\"", "14:42", "did you mean \"add\"?"},
        BadWorld{"weight = \"w + 8\"", "weight = \"n\"", "14:76",
                 "weight of rms_norm of the all_reduce of y: n is i32"},
        BadWorld{"weight = \"w + 8\"", "weight = \"one\"", "14:76", "one has no dimension"},
        BadWorld{"weight = \"w + 8\", ", "", "14:64", "lacks \"weight\""},
        BadWorld{"weight = \"w + 8\"", "weigth = \"w\"", "14:66", "did you mean \"weight\"?"},
        BadWorld{"to = \"h\"", "to = \"n\"", "14:106", "to of rms_norm of the all_reduce of y"},
        BadWorld{"to = \"h\"", "to = \"w\"", "13:1", "rms_norm of the all_reduce writes w"},
        BadWorld{"epsilon = 1e-5", "epsilon = -1", "13:1", "is -1; write a number from 0"},
        BadWorld{"epsilon = 1e-5", "epsilon = nan", "13:1", "is nan; write a number from 0"},
        BadWorld{"epsilon = 1e-5", "epsilon = 1e39", "13:1", "that f32 holds"},
        BadWorld{"epsilon = 1e-5", "epsilon = \"N\"", "14:94", "must be a number"}));

INSTANTIATE_TEST_SUITE_P(
    All, BadWorlds,
    ::testing::Values(
        BadWorld{"ranks = 2", "rank = 2", "2:1", "did you mean \"ranks\"?"},
        BadWorld{"ranks = 2", "ranks = \"N\"", "2:9", "ranks of world must be an integer"},
        BadWorld{"ranks = 2", "ranks = 0", "2:9", "the world has 0 ranks; write a number from 1"},
        BadWorld{"ranks = 2", "ranks = 2000", "2:9", "write a number from 1 to 1024"},
        BadWorld{"N = 4", "rank = 4", "2:9", "the symbol rank has the name of a symbol already"},
        BadWorld{"[world]\nranks = 2", "\n", "7:15", "unknown symbol \"ranks\""},
        BadWorld{"axis = 0", "axis = 1", "9:18", "buffer x has a shard, by axis 1 of 1 dimensions"},
        BadWorld{"axis = 0", "axis = -1", "9:18",
                 "axis of shard of buffer x is -1, it must be at least 0"},
        BadWorld{"axis = 0", "axs = 0", "9:11", "did you mean \"axis\"?"},
        BadWorld{"shard = { axis = 0 }", "shard = { axis = 0 }\nvariable = \"k.v\"", "9:18",
                 "is a variable of a kernel"},
        BadWorld{"op = \"max\"", "op = \"mean\"", "19:39", "unknown op \"mean\""},
        BadWorld{"op = \"max\"", "opp = \"max\"", "19:34", "did you mean \"op\"?"},
        BadWorld{"op = \"max\"", "by = \"gpu\"", "19:39", "unknown by \"gpu\""},
        BadWorld{"root = \"ranks - 1\"", "root = 0, by = \"peer\"", "24:1",
                 "kernels between peers execute all_reduce alone"},
        BadWorld{"count = 1", "count = -1", "19:54",
                 "the count of the all_reduce is -1, it must be at least 0"},
        BadWorld{"buffer = \"x + 1\"", "buffer = \"y\"", "19:26", "unknown buffer \"y\""},
        BadWorld{"all_reduce = { buffer = \"x + 1\", op = \"max\"", "all_reduce = { op = \"max\"",
                 "19:14", "lacks \"buffer\""},
        BadWorld{"buffer = \"x + 1\"", "buffer = \"w\"", "18:1", "all_reduce writes w"},
        BadWorld{"to = \"all\"", "to = \"w\"", "20:1",
                 "the dtypes f32 and bool differ, a collective does not convert"},
        BadWorld{"root = \"ranks - 1\"", "root = -1", "25:36",
                 "root of the broadcast is -1, it must be at least 0"},
        BadWorld{", root = \"ranks - 1\"", "", "25:13", "lacks \"root\""},
        BadWorld{"to = \"rank + 1\"", "to = \"rank + 1\", by = \"host\"", "26:1",
                 "by is \"host\" for the send, and both sides of a message need the same executor"},
        BadWorld{"to = \"rank + 1\"", "to = -2", "27:29", "to of the send is -2"},
        BadWorld{"[[steps]]\nsend", "[[setup]]\nsend", "26:1", "send is a setup step"}));

constexpr const char* kTwoBuffers =
    "[world]\n[buffers.w]\ndtype = \"bool\"\nshape = [4]\nrole = \"state\"\ninit = \"zeros\"\n"
    "[[steps]]\nfill = { buffer = \"w\", value = 0 }\n";

std::string refusal(const std::string& more, std::string text = kTwoBuffers) {
  try {
    Program::from_text(text + more, "p.toml");
  } catch (const Error& failure) {
    return failure.message();
  }
  return "";
}

constexpr const char* kGroups =
    "[world]\n"                                                                      // 1
    "[world.groups]\n"                                                               // 2
    "stage = \"PP\"\n"                                                               // 3
    "tensor = \"ranks / PP\"\n"                                                      // 4
    "[symbols]\n"                                                                    // 5
    "PP = 1\n"                                                                       // 6
    "[buffers.x]\n"                                                                  // 7
    "dtype = \"f32\"\n"                                                              // 8
    "shape = [\"4 / stage_ranks\", \"8 / tensor_ranks\"]\n"                          // 9
    "role = \"inout\"\n"                                                             // 10
    "shard = [{ axis = 1, group = \"tensor\" }, { axis = 0, group = \"stage\" }]\n"  // 11
    "[[steps]]\n"                                                                    // 12
    "all_reduce = { buffer = \"x\", group = \"tensor\" }\n"                          // 13
    "[[steps]]\n"                                                                    // 14
    "send = { buffer = \"x\", to = \"stage_rank + 1\", group = \"stage\" }\n";       // 15

TEST(ProgramGroups, AreReadAndWritten) {
  const Program program = Program::from_text(kGroups, "p.toml");
  ASSERT_TRUE(program.world());
  EXPECT_FALSE(program.world()->ranks);
  ASSERT_EQ(program.world()->groups.size(), 2u);
  // The order of the file is that of the grid.
  EXPECT_EQ(program.world()->groups[0].name, "stage");
  EXPECT_EQ(program.world()->groups[1].size.text(), "ranks / PP");
  for (const char* name :
       {"rank", "ranks", "stage_rank", "stage_ranks", "tensor_rank", "tensor_ranks"}) {
    ASSERT_NE(program.symbol(name), nullptr) << name;
    EXPECT_TRUE(program.symbol(name)->of_world);
  }
  EXPECT_EQ(program.buffer("x")->shards, (std::vector<BufferShard>{{.axis = 1, .group = "tensor"},
                                                                   {.axis = 0, .group = "stage"}}));
  EXPECT_EQ(std::get<CollectiveStep>(program.steps()[1].action).group, "stage");
  EXPECT_EQ(program.warnings(), std::vector<std::string>());
  const std::string text = program.to_toml();
  EXPECT_THAT(text, HasSubstr("[world.groups]\nstage = \"PP\"\ntensor = \"ranks / PP\"\n"));
  EXPECT_TRUE(Program::from_text(text, "p.toml") == program) << text;
  EXPECT_TRUE(Program(program.definition()) == program);
}

TEST(ProgramGroups, AreBuilt) {
  ProgramBuilder builder("p");
  builder.world({}, {{.name = "data", .size = 2}, {.name = "tensor", .size = 3}});
  builder.buffer({.name = "x",
                  .shape = {4},
                  .role = BufferRole::kInout,
                  .shards = {{.axis = 0, .group = "data"}}});
  builder.collective({.kind = CollectiveKind::kAllReduce, .buffer = "x", .group = "tensor"});
  const Program program = builder.build();
  // Sizes that are numbers give the number of ranks.
  EXPECT_EQ(program.world()->ranks, 6);
  EXPECT_EQ(program.symbol("tensor_ranks")->value, 3);
  EXPECT_TRUE(Program::from_text(program.to_toml(), "p.toml") == program) << program.to_toml();
}

class BadGroups : public ::testing::TestWithParam<BadWorld> {};

TEST_P(BadGroups, AreRefused) {
  const BadWorld& bad = GetParam();
  std::string text = kGroups;
  const std::size_t at = text.find(bad.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bad.from).size(), bad.to);
  try {
    Program::from_text(text, "p.toml");
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(exit_status(failure.code()), 2);
    EXPECT_THAT(failure.message(), HasSubstr(bad.message));
    EXPECT_EQ(failure.where().to_string(), std::string("p.toml:") + bad.place) << failure.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadGroups,
    ::testing::Values(
        BadWorld{"stage = \"PP\"", "stage = 0", "3:9",
                 "the group stage has 0 ranks; write a number from 1 to 1024"},
        BadWorld{"stage = \"PP\"", "stage = 2000", "3:9", "the group stage has 2000 ranks"},
        BadWorld{"stage = \"PP\"", "stage = true", "3:9",
                 "the group stage of world must be an integer or an expression"},
        BadWorld{"stage = \"PP\"", "stage = { inner = 2 }", "3:1",
                 "the group stage of world is a table, and groups do not nest"},
        BadWorld{"stage = \"PP\"", "\"a.b\" = 2", "3:1", "the group \"a.b\" is not a name"},
        BadWorld{"stage = \"PP\"", "stage = \"PQ\"", "3:10", "unknown symbol \"PQ\""},
        BadWorld{"stage = \"PP\"", "stage = \"rank\"", "3:1",
                 "the size of the group stage depends on rank, which the groups decide"},
        BadWorld{"\"ranks / PP\"", "\"ranks / stage_ranks\"", "4:1",
                 "the size of the group tensor depends on stage_ranks, which the groups decide"},
        BadWorld{"PP = 1\n", "PP = 1\ntensor_rank = 1\n", "4:1",
                 "the symbol tensor_rank has the name of a symbol already, at p.toml:7:1"},
        BadWorld{"group = \"tensor\" }\n", "group = \"tensr\" }\n", "12:1",
                 "unknown group \"tensr\"; did you mean \"tensor\"?"},
        BadWorld{"axis = 1, group = \"tensor\"", "axis = 1, group = \"tens\"", "11:19",
                 "unknown group \"tens\"; did you mean \"tensor\"?"},
        BadWorld{"axis = 1, group", "axis = 0, group", "11:51",
                 "buffer x has a shard, and another one by the same axis 0"},
        BadWorld{"axis = 1, group = \"tensor\"", "axis = 1, group = \"stage\"", "11:50",
                 "buffer x has a shard, and another one by the group stage"},
        BadWorld{"axis = 1, group = \"tensor\"", "axis = 1", "11:33",
                 "buffer x has a shard, and another one by all ranks"},
        BadWorld{"{ axis = 0, group = \"stage\" }]", "{ axis = 0, grp = \"stage\" }]", "11:54",
                 "did you mean \"group\"?"},
        BadWorld{"to = \"stage_rank + 1\"", "to = \"stages_rank + 1\"", "15:30",
                 "unknown symbol \"stages_rank\"; did you mean \"stage_rank\"?"}));

TEST(ProgramGroups, MakeUpTheRanks) {
  const std::string rest =
      "[buffers.w]\ndtype = \"i32\"\nshape = [4]\nrole = \"inout\"\n"
      "[[steps]]\nall_reduce = { buffer = \"w\", group = \"b\" }\n";
  EXPECT_EQ(refusal(rest, "[world]\nranks = 8\ngroups = { a = 2, b = 3 }\n"),
            "the world has 8 ranks, and the product of the sizes of its groups is 6; make them "
            "equal, or leave ranks out");
  EXPECT_EQ(refusal(rest, "[world]\ngroups = { a = 1000, b = 3 }\n"),
            "the product of the sizes of the groups is more than 1024 ranks");
  EXPECT_EQ(refusal(rest, "[world]\n"),
            "unknown group \"b\"; the world has no groups, add [world.groups] to the program");
  EXPECT_EQ(refusal(rest, "[world]\nranks = 6\ngroups = { a = 2, b = 3 }\n"), "");
}

TEST(ProgramWorld, BoolHasNoSum) {
  EXPECT_EQ(refusal("[[steps]]\nall_reduce = { buffer = \"w\" }\n"),
            "all_reduce of w: bool has no sum; take max for \"any\" or min for \"all\"");
  EXPECT_EQ(refusal("[[steps]]\nall_reduce = { buffer = \"w\", op = \"max\" }\n"), "");
}

TEST(ProgramWorld, CollectivesAreOrdinarySteps) {
  EXPECT_EQ(refusal("[[setup]]\nbroadcast = { buffer = \"w\", root = 0 }\n"),
            "broadcast is a setup step, which each rank executes by itself; write it among the "
            "other steps");
  EXPECT_THAT(refusal("[[steps]]\nparallel = [ [ { broadcast = { buffer = \"w\", root = 0 } } ], "
                      "[ { fill = { buffer = \"w\", value = 0 } } ] ]\n"),
              HasSubstr("broadcast is in a branch of a parallel, whose steps have no order"));
}

TEST(ProgramWorld, CollectivesNeedAWorld) {
  EXPECT_EQ(
      refusal("[[steps]]\nbroadcast = { buffer = \"w\", root = 0 }\n",
              std::string(kTwoBuffers).substr(8)),
      "broadcast is a step of several ranks, and the program has no world; add [world] to it");
}

}  // namespace
}  // namespace baton::world_test
