#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/error.h"
#include "tune/record_text.h"

namespace baton::tuning::record_test {
namespace {

using ::testing::HasSubstr;

TuneRecord full_record() {
  TuneRecord record;
  record.program = "aa";
  record.images = "bb";
  record.device = "NVIDIA H200";
  record.multiprocessors = 132;
  record.driver = 13000;
  record.symbols = {{"N", 4096}, {"A", -1}};
  record.variant.executor = ExecutorKind::kGraph;
  record.variant.choices.rewrites = {{"matvec", RewriteMode::kLoads}, {"norm", RewriteMode::kWait}};
  record.variant.choices.even = {"matvec"};
  record.variant.choices.full_edges = {3, 7};
  record.variant.choices.collectives = {{0, CollectiveExecutor::kPeer},
                                        {5, CollectiveExecutor::kHost}};
  record.variant.choices.parameters = {{"BLOCK", 128}};
  record.accepted = true;
  record.ratio = {0.9, 0.89, 0.91, 64};
  record.noise = 0.003;
  record.cost = "seconds";
  return record;
}

std::string refusal(const std::string& text) {
  try {
    read_record(text, "r.json");
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    return failure.message();
  }
  return "was read";
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = text_of(full_record());
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return "lacks " + from;
  return text.replace(at, from.size(), to);
}

TEST(TuneRecord, ComesBackFromItsText) {
  EXPECT_EQ(read_record(text_of(full_record()), "r.json"), full_record());
  EXPECT_EQ(read_record(text_of(TuneRecord{}), "r.json"), TuneRecord{});
  TuneRecord other = full_record();
  other.variant.choices.full_edges.pop_back();
  EXPECT_FALSE(read_record(text_of(other), "r.json") == full_record());
}

TEST(TuneRecord, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("{"), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("r.json"));
  EXPECT_THAT(refusal("{}"), HasSubstr("r.json lacks \"version\""));
  EXPECT_THAT(refusal(changed("\"version\": 1", "\"version\": 2")),
              HasSubstr("has version 2, this Baton reads 1"));
  EXPECT_THAT(refusal(changed("\"graph\"", "\"grahp\"")), HasSubstr("did you mean \"graph\"?"));
  EXPECT_THAT(refusal(changed("\"loads\"", "\"force\"")), HasSubstr("is \"force\""));
  EXPECT_THAT(refusal(changed("132", "-1")), HasSubstr("multiprocessors is -1, out of range"));
  EXPECT_THAT(refusal(changed("0.003", "\"x\"")), HasSubstr("noise is not a number"));
  EXPECT_THAT(refusal(changed("7\n", "-7\n")), HasSubstr("names launch -7"));
  EXPECT_THAT(refusal(changed("\"BLOCK\",", "")), HasSubstr("must be a pair"));
}

}  // namespace
}  // namespace baton::tuning::record_test
