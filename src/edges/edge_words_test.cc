// Every cause and every decision has a sentence, and a row in docs/pdl-verdicts.md.

#include "edges/edge_words.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace baton::edges::edge_words_test {
namespace {

using overlap::AccessGroup;
using overlap::Footprint;
using overlap::Verdict;
using testing::HasSubstr;

struct CauseRow {
  EdgeCause cause;
  std::string id, verdicts, meaning;
};
const CauseRow kCauses[] = {
#define BATON_EDGE_CAUSE(name, id, verdicts, meaning) {EdgeCause::name, id, verdicts, meaning},
#include "pdl/verdict/edge_causes.inc"
#undef BATON_EDGE_CAUSE
};

struct DecisionRow {
  EdgeDecision decision;
  std::string id, meaning;
};
const DecisionRow kDecisions[] = {
#define BATON_EDGE_DECISION(name, id, meaning) {EdgeDecision::name, id, meaning},
#include "edges/edge_decisions.inc"
#undef BATON_EDGE_DECISION
};

std::string page() {
  std::ifstream file(BATON_SOURCE_DIR "/docs/pdl-verdicts.md");
  EXPECT_TRUE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

// Kernel "late" reads y early, which "first", launch 4, writes; "middle" is between the two.
class EdgeWords : public testing::Test {
 protected:
  EdgeWords() {
    late_.kernel = "late";
    late_.unseen = overlap::Unseen{overlap::UnseenCause::kRecursion, "k.cu:3"};
    first_.kernel = "first";
    first_.unseen = overlap::Unseen{overlap::UnseenCause::kMachineCode};
    middle_.kernel = "middle";
    middle_.waits = Footprint::Waits::kNever;
    own_.reads = true;
    own_.where = "k.cu:12";
    other_.writes = true;
    other_.where = "k.cu:31";
    verdict_.own_kernel = &late_;
    verdict_.own = &own_;
    verdict_.other = &other_;
    verdict_.other_number = 4;
    verdict_.other_kernel = &first_;
    verdict_.between = &middle_;
    verdict_.memory = 7;
    verdict_.why = overlap::UnknownAddress::kLoaded;
  }

  std::string sentence(EdgeCause cause) {
    verdict_.cause = cause;
    return describe(verdict_,
                    {.memory = [](overlap::MemoryId id) { return id == 7 ? "y" : "?"; },
                     .kernel = [](const Footprint& footprint) { return footprint.kernel; }});
  }

  Footprint late_, first_, middle_;
  AccessGroup own_, other_;
  Verdict verdict_;
};

TEST_F(EdgeWords, EveryCauseHasASentenceOfItsOwn) {
  std::set<std::string> sentences, ids;
  for (const CauseRow& row : kCauses) {
    EXPECT_EQ(to_string(row.cause), row.id);
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_GT(sentence(row.cause).size(), 10u) << row.id;
    EXPECT_TRUE(sentences.insert(sentence(row.cause)).second) << row.id;
  }
}

TEST_F(EdgeWords, SentencesNameBothAccesses) {
  EXPECT_EQ(sentence(EdgeCause::kHolds),
            "late waits before it touches what an earlier launch touches");
  EXPECT_EQ(sentence(EdgeCause::kConflict),
            "late reads y at k.cu:12, before it has waited, while first (launch 4) writes it at "
            "k.cu:31");
  EXPECT_EQ(sentence(EdgeCause::kUnseen),
            "not all of late can be seen: a recursive call is at k.cu:3");
  EXPECT_EQ(sentence(EdgeCause::kOtherDevice),
            "late reads y at k.cu:12, by a non-coherent load, which no wait orders, and other "
            "devices write that at any time");
  own_.order = overlap::Order::kBefore;
  EXPECT_EQ(sentence(EdgeCause::kOtherDevice),
            "late reads y at k.cu:12, before it has waited, and other devices write that at any "
            "time");
  own_.prefetches = true;
  EXPECT_THAT(sentence(EdgeCause::kStale), HasSubstr("late prefetches y at k.cu:12"));
  own_.prefetches = false;
  EXPECT_THAT(sentence(EdgeCause::kUnknownEarly), HasSubstr("its address is loaded from memory"));
  EXPECT_THAT(sentence(EdgeCause::kTransitiveGap), HasSubstr("middle between never waits"));
  middle_.waits = Footprint::Waits::kSometimes;
  EXPECT_THAT(sentence(EdgeCause::kTransitiveGap),
              HasSubstr("middle between may end without a wait"));
  verdict_.other = nullptr;
  EXPECT_THAT(sentence(EdgeCause::kUnknownOther),
              HasSubstr("first (launch 4) may touch anything: it is machine code"));
}

TEST_F(EdgeWords, EveryDecisionHasASentence) {
  bind::PlannedEdge edge;
  edge.mode = PdlMode::kOff;
  edge.source = bind::EdgeSource::kEnvironment;
  for (const DecisionRow& row : kDecisions) {
    EXPECT_EQ(to_string(row.decision), row.id);
    EXPECT_GT(describe(row.decision, edge).size(), 5u) << row.id;
  }
  EXPECT_EQ(describe(EdgeDecision::kOff, edge), "BATON_PDL=off");
}

TEST_F(EdgeWords, TheDocumentationListsEveryCauseAndDecision) {
  std::string causes, decisions;
  for (const CauseRow& row : kCauses) {
    causes += fmt::format("| `{}` | {} | {} |\n", row.id, row.verdicts, row.meaning);
  }
  for (const DecisionRow& row : kDecisions) {
    decisions += fmt::format("| `{}` | {} |\n", row.id, row.meaning);
  }
  const std::string text = page();
  EXPECT_NE(text.find("| --- | --- | --- |\n" + causes + "\n"), std::string::npos)
      << "docs/pdl-verdicts.md needs this table:\n"
      << causes;
  EXPECT_NE(text.find("| --- | --- |\n" + decisions + "\n"), std::string::npos)
      << "docs/pdl-verdicts.md needs this table:\n"
      << decisions;
}

}  // namespace
}  // namespace baton::edges::edge_words_test
