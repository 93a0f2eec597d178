#include "ptx/cfg.h"

#include "base/error.h"
#include "ptx/testdata_test.h"

namespace baton::ptx::cfg_test {
namespace {

ControlFlow flow_of(std::string_view body) {
  const auto module = parse(kernel(body));
  return ControlFlow(FlatFunction(*module->function("k")));
}

using Nodes = std::vector<std::uint32_t>;

TEST(PtxControlFlow, Diamond) {
  const ControlFlow flow = flow_of(
      "setp.x p, a, b;\n@p bra yes;\nadd.x a, a, b;\nbra join;\n"
      "yes: sub.x a, a, b;\njoin: st.x [a], b;\nret;");
  ASSERT_EQ(flow.blocks().size(), 4u);
  EXPECT_EQ(flow.successors(0), (Nodes{1, 2}));
  EXPECT_EQ(flow.predecessors(3), (Nodes{1, 2}));
  EXPECT_EQ(flow.successors(3), Nodes{flow.exit()});
  EXPECT_EQ(flow.immediate_dominator(3), 0u);
  EXPECT_EQ(flow.immediate_dominator(0), kNoNode);
  EXPECT_EQ(flow.immediate_post_dominator(0), 3u);
  EXPECT_EQ(flow.immediate_post_dominator(flow.exit()), kNoNode);
  EXPECT_EQ(flow.reconvergence(1), 5u);
  EXPECT_EQ(flow.block_of(4), 2u);
  EXPECT_TRUE(flow.dominates(0, 3));
  EXPECT_TRUE(flow.dominates(3, 3));
  EXPECT_FALSE(flow.dominates(1, 3));
  EXPECT_TRUE(flow.post_dominates(3, 0));
  EXPECT_FALSE(flow.post_dominates(2, 0));
}

TEST(PtxControlFlow, LoopWithGuardedExit) {
  const ControlFlow flow = flow_of("loop: add.x a, a, 1;\n@p exit;\n@q bra loop;\n@r trap;\nret;");
  ASSERT_EQ(flow.blocks().size(), 4u);
  EXPECT_EQ(flow.successors(0), (Nodes{1, flow.exit()}));
  EXPECT_EQ(flow.successors(1), (Nodes{0, 2}));
  EXPECT_EQ(flow.successors(2), (Nodes{3, flow.exit()}));
  EXPECT_EQ(flow.reconvergence(2), 5u);
  EXPECT_EQ(flow.reconvergence(1), 5u);
}

TEST(PtxControlFlow, IndexedBranch) {
  const ControlFlow flow =
      flow_of("ts: .branchtargets a, b, a, c;\nbrx.idx %r1, ts;\na: ret;\nb: nop;\nc: ret;");
  EXPECT_EQ(flow.successors(0), (Nodes{1, 2, 3}));
  EXPECT_EQ(flow.immediate_post_dominator(0), flow.exit());
}

TEST(PtxControlFlow, InfiniteLoopsReachTheExitByAVirtualEdge) {
  const ControlFlow flow = flow_of("@p bra out;\nloop: nop;\n@q bra loop;\nbra loop;\nout: ret;");
  EXPECT_EQ(flow.immediate_post_dominator(0), flow.exit());
  EXPECT_EQ(flow.immediate_post_dominator(1), 2u);
  EXPECT_EQ(flow.immediate_post_dominator(2), flow.exit());
  EXPECT_EQ(flow.successors(2), Nodes{1});
}

TEST(PtxControlFlow, EmptyAndUnreachable) {
  const ControlFlow empty = flow_of("");
  ASSERT_EQ(empty.blocks().size(), 1u);
  EXPECT_EQ(empty.successors(0), Nodes{empty.exit()});
  const ControlFlow flow = flow_of("ret;\nnop;\nret;");
  EXPECT_TRUE(flow.is_reachable(0));
  EXPECT_FALSE(flow.is_reachable(1));
  EXPECT_TRUE(flow.is_reachable(flow.exit()));
  EXPECT_FALSE(flow.dominates(0, 1));
}

TEST(PtxControlFlow, RunsOffTheEnd) {
  const ControlFlow flow = flow_of("nop;\n@p bra end;\nnop;\nend:");
  EXPECT_EQ(flow.successors(0), (Nodes{1, flow.exit()}));
  EXPECT_EQ(flow.successors(1), Nodes{flow.exit()});
}

TEST(PtxControlFlow, RefusesGraphsFarLargerThanTheirText) {
  std::string body = "ts: .branchtargets l0";
  std::string branches;
  for (int i = 0; i < 3000; ++i) {
    body += fmt::format(", l{}", i);
    branches += fmt::format("l{}: brx.idx %r1, ts;\n", i);
  }
  EXPECT_THROW(flow_of(body + ";\n" + branches), Error);
}

}  // namespace
}  // namespace baton::ptx::cfg_test
