#include "session/advice/edge_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::edge_forecast_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Four executions of a launch that keeps memory busy for ten microseconds.
LaunchForecast launch(const std::string& name) {
  LaunchForecast result;
  result.name = name;
  result.executions = 4;
  result.bytes = 48 << 20;
  result.memory_time = 10;
  return result;
}

EdgeReport full(EdgeDecision decision, EdgeCause cause = EdgeCause::kConflict) {
  EdgeReport edge;
  edge.to = 1;
  edge.decision = decision;
  edge.cause = cause;
  edge.reason = "it reads y early";
  return edge;
}

EdgeReport early() {
  EdgeReport edge;
  edge.to = 1;
  edge.verdict = EdgeVerdict::kProven;
  edge.programmatic = true;
  edge.decision = EdgeDecision::kProven;
  edge.room = EarlyRoom{1, 1, 1, "registers"};
  return edge;
}

std::vector<EdgeAdvice> of(const EdgeReport& edge) {
  return forecast(edge, launch("norm"), launch("matvec"));
}

TEST(EdgeForecast, IsSilentWhereNothingIsLate) {
  EXPECT_THAT(of(early()), IsEmpty());
}

TEST(EdgeForecast, SaysWhatKeepsAnEdgeFull) {
  LaunchForecast from = launch("norm");
  from.tail = 2;
  const auto advice =
      forecast(full(EdgeDecision::kNotProven, EdgeCause::kNoWait), from, launch("matvec"));
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, HasSubstr("matvec never waits"));
  EXPECT_NEAR(advice[0].seconds, 4 * 2.47e-6, 1e-9);
  EXPECT_THAT(of(full(EdgeDecision::kOff))[0].text, HasSubstr("PDL is off"));
  EXPECT_THAT(of(full(EdgeDecision::kCooperative)), IsEmpty());
}

TEST(EdgeForecast, AsksForATriggerForRoomAndForAnEarlierTrigger) {
  EdgeReport edge = early();
  edge.room.reset();
  ASSERT_THAT(of(edge), SizeIs(1));
  EXPECT_THAT(of(edge)[0].text, HasSubstr("norm never triggers"));
  EXPECT_NEAR(of(edge)[0].seconds, 4 * 0.07e-6, 1e-9);

  edge.room = EarlyRoom{2, 0, 1, "registers"};
  ASSERT_THAT(of(edge), SizeIs(1));
  EXPECT_THAT(of(edge)[0].text, HasSubstr("use less of registers in either"));

  LaunchForecast from = launch("norm");
  from.triggers_at_its_end = true;
  from.tail = 1;
  const auto advice = forecast(early(), from, launch("matvec"));
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_EQ(advice[0].text, "norm triggers at its end: trigger earlier");
  EXPECT_NEAR(advice[0].seconds, 4 * 1.07e-6, 1e-9);
}

// No more than memory is idle for.
TEST(EdgeForecast, AsksForWeightsBeforeTheWait) {
  LaunchForecast to = launch("matvec");
  to.late_weights = 1 << 20;
  to.late_weights_time = 0.25;
  auto advice = forecast(early(), launch("norm"), to);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, AllOf(HasSubstr("matvec reads 1 MiB of weights, all after its wait"),
                                    HasSubstr("load weights before the wait")));
  EXPECT_NEAR(advice[0].seconds, 4 * 0.25e-6, 1e-9);

  to.late_weights_time = 9;
  advice = forecast(early(), launch("norm"), to);
  EXPECT_NEAR(advice[0].seconds, 4 * 0.73e-6, 1e-9);

  // Without an early block nothing is loaded early.
  EdgeReport edge = early();
  edge.room->beside = 0;
  EXPECT_THAT(forecast(edge, launch("norm"), to), SizeIs(1));
}

TEST(EdgeForecast, AsksToFuseALaunchThatIsSmallBesideItsEdge) {
  LaunchForecast from = launch("norm");
  from.bytes = 8192;
  from.memory_time = 0.002;
  from.executions = 3;
  const auto advice = forecast(early(), from, launch("matvec"));
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, AllOf(HasSubstr("norm moves 8 KiB, which takes memory 2 ns"),
                                    HasSubstr("fuse norm and matvec")));
  EXPECT_NEAR(advice[0].seconds, 3 * 0.73e-6, 1e-9);

  from.memory_time = 0.0002;
  EXPECT_THAT(forecast(early(), from, launch("matvec")).at(0).text,
              HasSubstr("which takes memory less than 1 ns"));

  // The edge from a group's last step to its first one.
  EdgeReport back = early();
  back.from = 1;
  back.to = 0;
  EXPECT_THAT(forecast(back, from, launch("matvec")), IsEmpty());
  from.memory_time = 0.08;
  EXPECT_THAT(forecast(early(), from, launch("matvec")), IsEmpty());
  // Nothing is known of the bytes.
  from.memory_time = 0;
  EXPECT_THAT(forecast(early(), from, launch("matvec")), IsEmpty());
}

TEST(EdgeForecast, TheTailIsTheLastWave) {
  EXPECT_DOUBLE_EQ(forecast_tail(8, 132, 1, 132), 0);
  EXPECT_DOUBLE_EQ(forecast_tail(8, 66, 1, 132), 4);
  EXPECT_DOUBLE_EQ(forecast_tail(8, 132 + 33, 1, 132), 3);
  EXPECT_DOUBLE_EQ(forecast_tail(8, 3 * 132, 2, 132), 0);
  EXPECT_DOUBLE_EQ(forecast_tail(8, 0, 2, 132), 0);
  EXPECT_DOUBLE_EQ(forecast_tail(8, 100, 0, 132), 0);
}

}  // namespace
}  // namespace baton::edge_forecast_test
