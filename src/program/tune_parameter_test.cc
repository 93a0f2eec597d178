#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/program.h"

namespace baton::tune_parameter_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRest = R"(
[symbols]
N = 64
B = 32
[buffers.x]
dtype = "f32"
shape = ["N"]
[[steps]]
fill = { buffer = "x", value = 0 }
[[steps]]
copy = { from = "x", to = "x + B", count = "1" }
)";

Program with_tune(const std::string& tune) {
  return Program::from_text(kRest + ("[tune]\n" + tune), "p.toml");
}

std::string refusal(const std::string& tune) {
  try {
    with_tune(tune);
  } catch (const Error& failure) {
    return failure.message() + " at " + failure.where().to_string();
  }
  return "was read";
}

TEST(TuneParameter, HasValuesInTheirOrder) {
  const Program program = with_tune("B = [16, \"N / 2\"]\n");
  ASSERT_EQ(program.tune_parameters().size(), 1u);
  const TuneParameter& parameter = program.tune_parameters()[0];
  EXPECT_EQ(parameter.symbol, "B");
  ASSERT_EQ(parameter.values.size(), 2u);
  EXPECT_EQ(parameter.values[0], Expression(16));
  EXPECT_EQ(parameter.values[1], Expression("N / 2"));
  EXPECT_EQ(with_tune("B = 16").tune_parameters()[0].values.size(), 1u) << "one needs no list";
  EXPECT_TRUE(with_tune("").tune_parameters().empty());
}

TEST(TuneParameter, ComesBackFromAProgramFile) {
  const Program program = with_tune("B = [16, \"N / 2\"]\n");
  const Program again = Program::from_text(program.to_toml(), "p.toml");
  EXPECT_EQ(again, program);
  EXPECT_FALSE(again == with_tune("B = [16]"));
  EXPECT_FALSE(again == with_tune(""));
}

TEST(TuneParameter, ComesFromABuilder) {
  ProgramBuilder builder("p");
  builder.symbol("B", 1);
  builder.tune("B", {2, 4});
  builder.buffer({.name = "x", .shape = {"B"}});
  builder.fill({.buffer = "x"});
  EXPECT_EQ(builder.build().tune_parameters()[0].values.size(), 2u);
  ProgramBuilder other("q");
  other.include(builder.build());
  EXPECT_EQ(other.build().tune_parameters(), builder.build().tune_parameters());
  builder.tune("B", {8});
  EXPECT_THROW(builder.build(), Error);
}

TEST(TuneParameter, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("C = [1]"), HasSubstr("tune names the unknown symbol \"C\"; known: N, B"));
  EXPECT_THAT(refusal("B = []"), HasSubstr("must have 1 to 64 values, not 0"));
  EXPECT_THAT(refusal("B = true"), HasSubstr("B"));
  EXPECT_THAT(refusal("B = [\"Q\"]"), HasSubstr("unknown symbol \"Q\""));
  EXPECT_THAT(refusal("B = [\"x\"]"), HasSubstr("x is a buffer"));
  EXPECT_THAT(refusal("B = [1]\nN = [\"B * 2\"]"), HasSubstr("depends on B, which is tuned too"));
  EXPECT_THAT(refusal("B = [1]\nN = [\"B * 2\"]"), HasSubstr("p.toml:14"));
}

// All ranks of a search try the same variants.
TEST(TuneParameter, IsTheSameOnAllRanks) {
  const std::string world = "\n[world.groups]\nstage = 2\npart = \"ranks / 2\"\n";
  EXPECT_EQ(refusal("B = [\"16 * ranks\", \"8 * part_ranks\"]" + world), "was read");
  EXPECT_THAT(refusal("B = [8, \"16 * (rank + 1)\"]" + world),
              HasSubstr("the value \"16 * (rank + 1)\" of B depends on rank, which differs between "
                        "ranks; all ranks try the same values, so write it without at p.toml:13"));
  EXPECT_THAT(refusal("B = [\"16 + part_rank\"]" + world), HasSubstr("depends on part_rank"));
}

}  // namespace
}  // namespace baton::tune_parameter_test
