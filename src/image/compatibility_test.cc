#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/image.h"
#include "image/architecture.h"

namespace baton::compatibility_test {
namespace {

using Answer = Compatibility::Answer;
using testing::HasSubstr;

ImageFacts facts_of(ImageKind kind, std::string arch) {
  ImageFacts facts;
  facts.kind = kind;
  facts.arch = std::move(arch);
  facts.ptx_version = "9.0";
  return facts;
}

struct Case {
  ImageKind kind;
  const char* arch;
  int device;
  Answer answer;
};
constexpr ImageKind kCubin = ImageKind::kCubin, kPtx = ImageKind::kPtx;
constexpr Case kCases[] = {
    // Within a major version, from the own minor version on.
    {kCubin, "sm_80", 80, Answer::kRuns},
    {kCubin, "sm_80", 86, Answer::kRuns},
    {kCubin, "sm_80", 89, Answer::kRuns},
    {kCubin, "sm_86", 80, Answer::kNo},
    {kCubin, "sm_80", 90, Answer::kNo},
    {kCubin, "sm_90", 90, Answer::kRuns},
    {kCubin, "sm_90", 100, Answer::kNo},
    {kCubin, "sm_100", 103, Answer::kRuns},
    {kCubin, "sm_103", 100, Answer::kNo},
    {kCubin, "sm_100", 120, Answer::kNo},
    {kCubin, "sm_120", 121, Answer::kRuns},
    // With `a` nowhere else.
    {kCubin, "sm_90a", 90, Answer::kRuns},
    {kCubin, "sm_100a", 100, Answer::kRuns},
    {kCubin, "sm_100a", 103, Answer::kNo},
    {kCubin, "sm_90a", 100, Answer::kNo},
    {kCubin, "sm_120a", 121, Answer::kNo},
    // With `f` in the family.
    {kCubin, "sm_100f", 100, Answer::kRuns},
    {kCubin, "sm_100f", 103, Answer::kRuns},
    {kCubin, "sm_103f", 100, Answer::kNo},
    {kCubin, "sm_100f", 120, Answer::kNo},
    {kCubin, "sm_120f", 121, Answer::kRuns},
    // Embedded GPUs stand apart.
    {kCubin, "sm_80", 87, Answer::kNo},
    {kCubin, "sm_87", 89, Answer::kNo},
    {kCubin, "sm_87", 87, Answer::kRuns},
    // PTX goes forward only.
    {kPtx, "sm_80", 80, Answer::kCompiles},
    {kPtx, "sm_80", 87, Answer::kCompiles},
    {kPtx, "sm_80", 120, Answer::kCompiles},
    {kPtx, "sm_90", 80, Answer::kNo},
    {kPtx, "sm_90a", 90, Answer::kCompiles},
    {kPtx, "sm_90a", 100, Answer::kNo},
    {kPtx, "sm_100f", 103, Answer::kCompiles},
    {kPtx, "sm_100f", 110, Answer::kNo},
    {kPtx, "compute_90", 90, Answer::kCompiles},
    // What is unknown.
    {kCubin, "", 90, Answer::kUnknown},
    {kCubin, "sm_90x", 90, Answer::kUnknown},
    {kPtx, "gfx942", 90, Answer::kUnknown},
};

TEST(RunsOn, EveryRule) {
  for (const Case& each : kCases) {
    const Compatibility got = runs_on(facts_of(each.kind, each.arch), each.device);
    EXPECT_EQ(got.answer, each.answer)
        << to_string(each.kind) << " " << each.arch << " on " << each.device << ": " << got.reason;
    EXPECT_FALSE(got.reason.empty());
  }
}

TEST(RunsOn, TheReasonNamesBoth) {
  const std::string reason = runs_on(facts_of(kCubin, "sm_90a"), 100).reason;
  EXPECT_THAT(reason, HasSubstr("sm_90a"));
  EXPECT_THAT(reason, HasSubstr("sm_100"));
}

TEST(RunsOn, PtxNeedsADriverThatKnowsIt) {
  const ImageFacts facts = facts_of(kPtx, "sm_90");
  EXPECT_EQ(runs_on(facts, 90, 13000).answer, Answer::kCompiles);
  EXPECT_EQ(runs_on(facts, 90, 12080).answer, Answer::kNo);
  EXPECT_THAT(runs_on(facts, 90, 12080).reason, HasSubstr("CUDA 13.0 or later"));
}

TEST(RunsOn, AnObjectDoesNot) {
  ImageFacts facts = facts_of(kCubin, "sm_90");
  facts.linked = false;
  EXPECT_EQ(runs_on(facts, 90).answer, Answer::kNo);
}

TEST(RunsOn, AFatbinAsItsBestMember) {
  ImageFacts facts = facts_of(ImageKind::kFatbin, "sm_90a");
  facts.members.resize(2);
  facts.members[0].kind = MemberFacts::Kind::kPtx;
  facts.members[0].arch = "sm_80";
  facts.members[1].kind = MemberFacts::Kind::kCubin;
  facts.members[1].arch = "sm_90a";
  EXPECT_EQ(runs_on(facts, 90).answer, Answer::kRuns);
  EXPECT_EQ(runs_on(facts, 100).answer, Answer::kCompiles);
  const Compatibility none = runs_on(facts, 75);
  EXPECT_EQ(none.answer, Answer::kNo);
  EXPECT_THAT(none.reason, HasSubstr("sm_80"));
  EXPECT_THAT(none.reason, HasSubstr("sm_90a"));
}

TEST(RunsOn, AFatbinOfObjectsByItsPtxAlone) {
  ImageFacts facts = facts_of(ImageKind::kFatbin, "sm_90");
  facts.linked = false;
  facts.members.resize(1);
  facts.members[0].kind = MemberFacts::Kind::kCubin;
  facts.members[0].arch = "sm_90";
  EXPECT_EQ(runs_on(facts, 90).answer, Answer::kNo);
  EXPECT_THAT(runs_on(facts, 90).reason, HasSubstr("needs a device link first"));
  facts.members.resize(2);
  facts.members[1].kind = MemberFacts::Kind::kPtx;
  facts.members[1].arch = "sm_90";
  EXPECT_EQ(runs_on(facts, 90).answer, Answer::kCompiles);
}

TEST(MaxDynamicShared, IsTheLimitLessWhatIsStatic) {
  KernelFacts kernel;
  kernel.arch = "sm_90a";
  EXPECT_EQ(max_dynamic_shared(kernel), std::nullopt);
  kernel.static_shared = 1024;
  EXPECT_EQ(max_dynamic_shared(kernel), 232448u - 1024);
  EXPECT_EQ(max_dynamic_shared(kernel, 80), 166912u - 1024);
  EXPECT_EQ(max_dynamic_shared(kernel, 86), 101376u - 1024);
  EXPECT_EQ(max_dynamic_shared(kernel, 42), std::nullopt);
  kernel.static_shared = 300000;
  EXPECT_EQ(max_dynamic_shared(kernel), 0u);
}

TEST(Architecture, ReadsNamesAlone) {
  EXPECT_EQ(image::parse_architecture("sm_103f")->suffix, 'f');
  EXPECT_EQ(image::parse_architecture("sm_103f")->number, 103);
  for (const char* text : {"", "sm_", "sm_9", "sm_90b", "sm_90aa", "sm_-90", "sm_99999", "90"}) {
    EXPECT_FALSE(image::parse_architecture(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace baton::compatibility_test
