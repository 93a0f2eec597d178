#include <string>
#include <vector>

#include "session/world/test_ranks.h"

// Groups of ranks: what they exchange, how they divide buffers, and what is refused.

namespace baton::session_test::groups_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Ranks 0 and 1 are the first stage, 2 and 3 the second one.
const std::string kGrid = "[world]\n[world.groups]\nstage = 2\ntensor = 2\n";

class Groups : public Executors {};
INSTANTIATE_TEST_SUITE_P(All, Groups,
                         ::testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         executor_name);

TEST_P(Groups, ExchangeAmongThemselves) {
  const std::string text =
      kGrid + buffer("x", "i32", "[2]", "input") + "shard = { axis = 0 }\n" +
      buffer("sum", "i32", "[2]", "output") + buffer("all", "i32", "[4]", "output") +
      buffer("part", "i32", "[1]", "output") + buffer("root", "i32", "[2]", "output") +
      buffer("left", "i32", "[2]", "output", "zeros") +
      step("copy = { from = \"x\", to = \"sum\" }") +
      step("all_reduce = { buffer = \"sum\", group = \"tensor\" }") +
      step("all_gather = { from = \"x\", to = \"all\", group = \"stage\" }") +
      step("reduce_scatter = { from = \"x\", to = \"part\", op = \"max\", group = \"tensor\" }") +
      step("copy = { from = \"x\", to = \"root\" }") +
      step("broadcast = { buffer = \"root\", root = \"stage_ranks - 1\", group = \"stage\" }") +
      step("send = { buffer = \"x\", to = \"stage_rank + 1\", group = \"stage\" }") +
      step("receive = { buffer = \"left\", from = \"stage_rank - 1\", group = \"stage\" }");
  expect_none(on_ranks(4, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.inputs.emplace_back(
        "x", array<std::int32_t>(DType::kI32, {8}, {1, 2, 30, 4, 500, 600, 7, 8000}));
    const Executable executable = ran(text, device, world, std::move(bindings), GetParam());
    const auto got = [&](const char* name) {
      return values<std::int32_t>(executable.output(name));
    };
    using Rows = std::vector<std::vector<std::int32_t>>;
    const std::uint32_t rank = world.rank();
    EXPECT_EQ(got("sum"), (Rows{{31, 6}, {31, 6}, {507, 8600}, {507, 8600}})[rank]);
    EXPECT_EQ(got("all"), (Rows{{1, 2, 500, 600}, {30, 4, 7, 8000}})[rank % 2]);
    EXPECT_EQ(got("part"), (Rows{{30}, {4}, {500}, {8000}})[rank]);
    EXPECT_EQ(got("root"), (Rows{{500, 600}, {7, 8000}})[rank % 2]);
    EXPECT_EQ(got("left"), (Rows{{0, 0}, {0, 0}, {1, 2}, {30, 4}})[rank]);
  }));
}

// Stages have steps of their own: a repeat of their numbers. Micro-batches follow one another.
TEST_P(Groups, StagesOfAPipelineComeToOtherSteps) {
  const std::string text =
      kGrid + buffer("x", "i32", "[3]", "input", "arange") +
      buffer("y", "i32", "[3]", "output", "zeros") + buffer("h", "i32", "[1]", "scratch", "zeros") +
      kernel("add") +
      step(
          "repeat = \"1 - stage_rank\"\nsteps = [ { repeat = 3, index = \"m\", steps = [\n"
          "{ copy = { from = \"x + m\", to = \"h\", count = 1 } },\n"
          "{ all_reduce = { buffer = \"h\", group = \"tensor\" } },\n"
          "{ send = { buffer = \"h\", to = \"stage_rank + 1\", group = \"stage\" } } ] } ]") +
      step(
          "repeat = \"stage_rank\"\nsteps = [ { repeat = 3, index = \"m\", steps = [\n"
          "{ receive = { buffer = \"h\", from = \"stage_rank - 1\", group = \"stage\" } },\n"
          "{ launch = \"add\", grid = [1], block = [1], args = [\"h\", 100, 1] },\n"
          "{ copy = { from = \"h\", to = \"y + m\", count = 1 } } ] } ]");
  expect_none(on_ranks(4, [&](const Device& device, const World& world) {
    const Executable executable = ran(text, device, world, {}, GetParam());
    const std::vector<std::int32_t> want = world.rank() < 2
                                               ? std::vector<std::int32_t>{0, 0, 0}
                                               : std::vector<std::int32_t>{100, 102, 104};
    EXPECT_EQ(values<std::int32_t>(executable.output("y")), want);
  }));
}

// Parts by two groups at once, and equal parts of ranks that no group of the shard tells apart.
TEST(GroupShards, DivideTheWhole) {
  struct Shard {
    const char* shape;
    const char* shard;
  };
  const Shard shards[] = {
      {"[4, \"6 / tensor_ranks\", 2]", "{ axis = 1, group = \"tensor\" }"},
      {"[\"4 / stage_ranks\", 6, 2]", "{ axis = 0, group = \"stage\" }"},
      {"[\"4 / stage_ranks\", \"6 / tensor_ranks\", 2]",
       "[{ axis = 0, group = \"stage\" }, { axis = 1, group = \"tensor\" }]"},
      {"[\"4 / tensor_ranks\", 6, \"2 / stage_ranks\"]",
       "[{ axis = 2, group = \"stage\" }, { axis = 0, group = \"tensor\" }]"},
  };
  const std::string grid =
      "[world]\n[world.groups]\nstage = \"max(ranks / 2, 1)\"\ntensor = \"min(ranks, 2)\"\n";
  for (const std::string init : {"random", "arange"}) {
    for (const Shard& shard : shards) {
      SCOPED_TRACE(init + " " + shard.shard);
      const std::string text =
          grid + buffer("x", "f32", shard.shape, "inout", init) + "shard = " + shard.shard + "\n" +
          buffer("y", "f32", "[1]", "scratch") + step("fill = { buffer = \"y\", value = 0 }");
      const Array whole = ran(text, device_of(0), World()).output("x");
      EXPECT_EQ(whole.shape, (std::vector<std::int64_t>{4, 6, 2}));
      expect_none(on_ranks(4, [&](const Device& device, const World& world) {
        Executable executable = ran(text, device, world);
        EXPECT_EQ(executable.whole_shape("x"), whole.shape);
        executable.gather_outputs();
        if (world.rank() == 0) {
          EXPECT_EQ(executable.output("x").bytes, whole.bytes);
        }
        // An input of the whole gives each rank the same part.
        const Array part = ran(text, device, world).output("x");
        Bindings given;
        given.inputs.emplace_back("x", whole);
        EXPECT_EQ(ran(text, device, world, std::move(given)).output("x").bytes, part.bytes);
      }));
    }
  }
}

TEST(GroupShards, AreOfAGroup) {
  const std::string text = kGrid + buffer("x", "i32", "[2]", "inout") +
                           "shard = { axis = 0, group = \"stage\" }\n" +
                           step("all_reduce = { buffer = \"x\", group = \"tensor\" }");
  expect_none(on_ranks(4, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.inputs.emplace_back("x", array<std::int32_t>(DType::kI32, {4}, {1, 2, 3, 4}));
    const Executable executable = ran(text, device, world, std::move(bindings));
    const std::int32_t first = world.rank() < 2 ? 1 : 3;
    EXPECT_THAT(values<std::int32_t>(executable.output("x")),
                ElementsAre(2 * first, 2 * first + 2));
  }));
  for (const auto& failure : on_ranks(4, [&](const Device&device, const World&world) {
         Bindings bindings;
         bindings.inputs.emplace_back("x", array<std::int32_t>(DType::kI32, {3}, {1, 2, 3}));
         ran(text, device, world, std::move(bindings));
       })) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message(), HasSubstr("dimension 0 of the array is 3, which 2 ranks of the "
                                              "group stage do not divide"));
  }
}

const std::string kSized =
    "[world]\n[world.groups]\nstage = \"PP\"\ntensor = \"ranks / PP\"\n[symbols]\nPP = 1\n" +
    buffer("x", "i32", "[4]", "inout", "ones") +
    step("all_reduce = { buffer = \"x\", group = \"tensor\" }");

TEST(GroupSizes, AreExpressions) {
  expect_none(on_ranks(4, [](const Device& device, const World& world) {
    for (const int stages : {1, 2, 4}) {
      Bindings bindings;
      bindings.symbols = {{"PP", stages}};
      const Executable executable = ran(kSized, device, world, std::move(bindings));
      EXPECT_EQ(values<std::int32_t>(executable.output("x"))[0], 4 / stages);
    }
  }));
  // One rank is a group of its own in each dimension.
  EXPECT_EQ(values<std::int32_t>(ran(kSized, device_of(0), World()).output("x"))[0], 1);
}

TEST(GroupSizes, MustFillTheRanks) {
  const auto failure_of = [](const std::string& text, int stages) {
    const auto failures = on_ranks(4, [&](const Device& device, const World& world) {
      Bindings bindings;
      bindings.symbols = {{"PP", stages}};
      ran(text, device, world, std::move(bindings));
    });
    EXPECT_TRUE(failures[0]);
    return failures[0] ? failures[0]->message() : "";
  };
  EXPECT_THAT(failure_of(kSized, 3),
              HasSubstr("the groups have the sizes stage = 3, tensor = 1, whose product is not the "
                        "4 ranks of this run; start as many ranks, or change the sizes"));
  EXPECT_THAT(failure_of(kSized, 5),
              HasSubstr("the group stage would have 5 ranks (PP = 5), and this run has 4"));
  EXPECT_THAT(failure_of(kSized, 0), HasSubstr("the group stage would have 0 ranks (PP = 0)"));
  // Sizes that are numbers require their product.
  const Error failure = refused(
      kGrid + buffer("x", "i32", "[4]", "inout", "ones") + step("all_reduce = { buffer = \"x\" }"),
      bindings_of(World()));
  EXPECT_THAT(failure.message(), HasSubstr("takes 4 ranks, and this run has 1"));
}

TEST(GroupSizes, StayThoseOfTheFirstBind) {
  const auto failures = on_ranks(4, [](const Device& device, const World& world) {
    Executable executable = ran(kSized, device, world);
    EXPECT_THROW(executable.set("PP", 2), Error);
    Bindings bindings = bindings_of(world);
    bindings.symbols = {{"PP", 2}};
    executable.bind(std::move(bindings));
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message(),
                HasSubstr("was bound with 1 ranks in the group stage, and this bind wants 2"));
  }
}

TEST(GroupSteps, NameRanksOfTheGroup) {
  const std::string text =
      kGrid + buffer("x", "i32", "[4]", "inout", "ones") +
      step("broadcast = { buffer = \"x\", root = \"rank\", group = \"stage\" }");
  const auto failures =
      on_ranks(4, [&](const Device& device, const World& world) { ran(text, device, world); });
  ASSERT_TRUE(failures[3]);
  EXPECT_THAT(failures[3]->message(), HasSubstr(", and the ranks of the group stage are 0 to 1"));
}

TEST(GroupSteps, AreComparedByGroup) {
  // Counts differ between the stages, and not inside of them.
  const std::string good =
      kGrid + buffer("x", "i32", "[4]", "inout", "ones") +
      step("all_reduce = { buffer = \"x\", count = \"1 + stage_rank\", group = \"tensor\" }");
  expect_none(on_ranks(4, [&](const Device& device, const World& world) {
    const auto got = values<std::int32_t>(ran(good, device, world).output("x"));
    EXPECT_THAT(got, ElementsAre(2, world.rank() < 2 ? 1 : 2, 1, 1));
  }));
  const std::string bad = kGrid + buffer("x", "i32", "[4]", "inout", "ones") +
                          step(
                              "repeat = \"3 - stage_rank * tensor_rank\"\nsteps = [ "
                              "{ all_reduce = { buffer = \"x\", group = \"tensor\" } } ]");
  const Error failure = one_error(
      on_ranks(4, [&](const Device& device, const World& world) { ran(bad, device, world); }));
  EXPECT_THAT(failure.message(),
              HasSubstr("the ranks disagree: rank 2 has the step at test.toml:12:11 = all_reduce x "
                        "in tensor (sum of 4 i32), 3 times, rank 3 has the step at "
                        "test.toml:12:11 = all_reduce x in tensor (sum of 4 i32), 2 times; all "
                        "ranks of the group tensor must come to the same collectives"));
}

// Whether a bind of two ranks accepts steps that depend on the rank.
std::string bind_refusal(const std::string& steps) {
  const auto failures = on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable =
        Executable::prepare(program(kWorld + buffer("x", "i32", "[4]", "inout", "ones") +
                                    buffer("go", "i32", "[1]", "input", "zeros") + steps),
                            device);
    executable.bind(bindings_of(world));
    world.meet("the end");
  });
  return failures[0] ? failures[0]->message() : "";
}

std::string nested(const std::string& outer, const std::string& inner, const std::string& steps) {
  return step("repeat = \"" + outer + "\"\nsteps = [ { repeat = \"" + inner +
              "\", index = \"i\", steps = [ " + steps + " ] } ]");
}

TEST(GroupSteps, AreComparedAsTheyFollowOneAnother) {
  const std::string one = "{ all_reduce = { buffer = \"x\" } }";
  const std::string two = one + ", { all_reduce = { buffer = \"x\", op = \"max\" } }";
  // However they are nested: 2 times 3, and 3 times 2.
  EXPECT_EQ(bind_refusal(nested("2 + rank", "3 - rank", one)), "");
  EXPECT_EQ(bind_refusal(nested("2 + rank", "3 - rank", two)), "");
  EXPECT_THAT(bind_refusal(nested("2 + rank", "3", one)), HasSubstr("6 times"));
  EXPECT_THAT(bind_refusal(nested("2 + rank", "3", two)), HasSubstr("does not have it"));
  // By an index, whose values count.
  const std::string counted = "{ all_reduce = { buffer = \"x\", count = \"1 + i % 2\" } }";
  EXPECT_EQ(bind_refusal(nested("1", "4", counted)), "");
  EXPECT_THAT(bind_refusal(nested("1", "2 + rank", counted)), HasSubstr("does not have it"));
  EXPECT_THAT(
      bind_refusal(nested("1", "4", "{ all_reduce = { buffer = \"x\", count = \"3 + i\" } }")),
      HasSubstr("the all_reduce takes 5 elements of x from element 0 on, and there are 4"));
}

// What is too long to compare, and what values decide, is compared during the run.
TEST(GroupSteps, AreComparedAsFarAsTheyAreKnown) {
  const std::string two =
      "{ all_reduce = { buffer = \"x\" } }, { all_reduce = { buffer = \"x\", op = "
      "\"max\" } }";
  EXPECT_EQ(bind_refusal(nested("100000 + rank", "1", two)), "");
  EXPECT_EQ(bind_refusal(step("if = { buffer = \"go\" }\nsteps = [ " + two + " ]")), "");
  EXPECT_EQ(bind_refusal(step("if = { buffer = \"go\" }\nsteps = [ { send = { buffer = \"x\", to = "
                              "\"rank + 1\" } } ]")),
            "");
}

// The contents of a step grow from one iteration to the next, while the other rank waits for them.
TEST(GroupSteps, MayGrow) {
  const std::string text = kWorld + buffer("x", "i32", "[64]", "inout", "ones") +
                           step(
                               "repeat = 64\nindex = \"i\"\nsteps = [ { all_reduce = { buffer = "
                               "\"x\", op = \"max\", count = "
                               "\"1 + i\" } } ]");
  for (int round = 0; round < 5; ++round) {
    expect_none(on_ranks(3, [&](const Device& device, const World& world) {
      EXPECT_EQ(values<std::int32_t>(ran(text, device, world).output("x"))[63], 1);
    }));
  }
}

std::string messages(const std::string& sends, const std::string& receives) {
  return kWorld + buffer("x", "i32", "[4]", "inout", "ones") +
         step("repeat = \"" + sends + "\"\nindex = \"i\"\nsteps = [ { send = { buffer = \"x\", " +
              "count = \"4 - i / 2\", to = \"rank + 1\" } } ]") +
         step("repeat = \"" + receives +
              "\"\nsteps = [ { receive = { buffer = \"x\", from = \"rank - 1\" } } ]");
}

Error failure_of(const std::string& text) {
  return one_error(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = Executable::prepare(program(text), device);
    executable.bind(bindings_of(world));
  }));
}

TEST(Messages, AreComparedWhenBound) {
  expect_none(on_ranks(
      2, [](const Device& device, const World& world) { ran(messages("2", "2"), device, world); }));
  EXPECT_EQ(failure_of(messages("2", "1")).message(),
            "the ranks disagree: rank 0 sends 2 messages to rank 1, at test.toml:10:11, which "
            "receives 1 message from it; write a receive for each send");
  EXPECT_EQ(failure_of(messages("1 - rank", "2 * rank")).message(),
            "the ranks disagree: rank 0 sends 1 message to rank 1, which receives 2 messages from "
            "it, at test.toml:13:11; write a receive for each send");
  EXPECT_EQ(failure_of(messages("3", "3")).message(),
            "the ranks disagree: message 2 from rank 0 to rank 1 is sent with 3 i32, at "
            "test.toml:10:11, and received with 4 i32, at test.toml:13:11; make both equal");
}

}  // namespace
}  // namespace baton::session_test::groups_test
