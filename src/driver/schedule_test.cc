#include "baton/schedule.h"

#include <gtest/gtest.h>

#include "baton/error.h"

namespace baton::schedule_test {
namespace {

TEST(Schedule, NamesAreReadAsTheyAreWritten) {
  for (const Schedule& schedule :
       {Schedule{ScheduleKind::kSerial, 0}, Schedule{ScheduleKind::kLate, 0},
        Schedule{ScheduleKind::kEarly, 0}, Schedule{ScheduleKind::kReverse, 0},
        Schedule{ScheduleKind::kRandom, 0}, Schedule{ScheduleKind::kRandom, UINT64_MAX}}) {
    EXPECT_EQ(parse_schedule(to_string(schedule)), schedule) << to_string(schedule);
  }
  EXPECT_EQ(to_string(Schedule{ScheduleKind::kRandom, 7}), "random:7");
}

TEST(Schedule, RandomAloneDrawsASeed) {
  EXPECT_EQ(parse_schedule("random").kind, ScheduleKind::kRandom);
}

TEST(Schedule, OtherTextsAreRefused) {
  for (const char* text : {"", "earli", "early:1", "random:", "random:x", "random:-1",
                           "random:18446744073709551616", "random:1 ", "Serial"}) {
    try {
      parse_schedule(text);
      ADD_FAILURE() << text;
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << text;
    }
  }
  try {
    parse_schedule("earli");
  } catch (const Error& failure) {
    EXPECT_NE(failure.message().find("early"), std::string::npos) << failure.message();
  }
}

}  // namespace
}  // namespace baton::schedule_test
