#include "ptx/flat.h"

#include "ptx/testdata_test.h"

namespace baton::ptx::flat_test {
namespace {

TEST(PtxFlat, ResolvesNamesInTheirScopes) {
  const auto module =
      parse(kernel(".reg .b32 %r<12>, %r1<3>, plain;\n"
                   "top: mov.u32 %r1, 1;\n"
                   "{ .reg .b64 plain; top: bra top; }\n"
                   "{ bra top; bra end; }\n"
                   "ts: .branchtargets top, end;\n"
                   "brx.idx %r1, ts;\n"
                   "p: .callprototype _ ();\n"
                   "end:"));
  const FlatFunction flat(*module->function("k"));
  const auto& list = flat.instructions();
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(flat.branch_targets(list[1]), std::vector<std::uint32_t>{1});
  EXPECT_EQ(flat.branch_targets(list[2]), std::vector<std::uint32_t>{0});
  EXPECT_EQ(flat.branch_targets(list[3]), std::vector<std::uint32_t>{5});
  EXPECT_EQ(flat.branch_targets(list[4]), (std::vector<std::uint32_t>{0, 5}));

  EXPECT_EQ(flat.variable(list[0].scope, "plain")->variable->type, "b32");
  EXPECT_EQ(flat.variable(list[1].scope, "plain")->variable->type, "b64");
  EXPECT_EQ(flat.variable(list[1].scope, "%r5")->index, 5u);
  EXPECT_EQ(flat.variable(0, "%r12")->index, 2u);
  EXPECT_EQ(flat.variable(0, "%r12")->variable->name, "%r1");
  EXPECT_FALSE(flat.variable(0, "%r99"));
  EXPECT_FALSE(flat.variable(0, "%r"));
  EXPECT_FALSE(flat.variable(0, "top"));
  EXPECT_FALSE(flat.label(0, "plain"));
  EXPECT_FALSE(flat.label(0, "nowhere"));
  EXPECT_NE(flat.prototype(0, "p"), nullptr);
  EXPECT_EQ(flat.prototype(0, "ts"), nullptr);
  EXPECT_EQ(flat.targets(0, "p"), nullptr);
}

TEST(PtxFlat, FindsParametersAndLines) {
  const auto module = parse(std::string(kHeader) +
                            ".func (.param .b32 r) f(.param .b64 a) {\n"
                            "add.u32 x, x, x;\n.loc 1 7 2\nadd.u32 x, x, x;\n{ ret; } }");
  const FlatFunction flat(*module->function("f"));
  EXPECT_EQ(flat.variable(0, "a")->variable->type, "b64");
  EXPECT_EQ(flat.variable(flat.instructions()[2].scope, "r")->variable->type, "b32");
  EXPECT_EQ(flat.instructions()[0].loc, nullptr);
  EXPECT_EQ(flat.instructions()[2].loc->line, 7u);
}

TEST(PtxFlat, RefusesWhatIsDeclaredTwiceOrNotAtAll) {
  const auto flatten = [](std::string_view body) {
    const auto module = parse(kernel(body));
    const FlatFunction flat(*module->function("k"));
    for (const FlatInstruction& each : flat.instructions()) flat.branch_targets(each);
  };
  EXPECT_NO_THROW(flatten("a: bra a;"));
  for (const char* body :
       {"a: bra a; a:", ".reg .b32 a; a: bra a;", ".reg .b32 %r<2>, %r<3>;", "bra nowhere;",
        "{ inside: } bra inside;", "brx.idx %r1, a; a:", "bra a, b; a: b:", "bra 5;", "bra;",
        "ts: .branchtargets nowhere; brx.idx %r1, ts;", "ts: .calltargets f; brx.idx %r1, ts;"}) {
    EXPECT_THROW(flatten(body), Error) << body;
  }
}

}  // namespace
}  // namespace baton::ptx::flat_test
