// Which addresses a kernel leaves in memory, and which it stores as parts of other values.

#include "pdl/origin/origin_facts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pdl/test_support.h"

namespace baton::overlap::origin_facts_test {
namespace {

std::string text_of_all(const Footprint& footprint, const std::vector<Origin>& origins) {
  std::string text;
  for (const Origin& origin : origins)
    text += (text.empty() ? "" : " ") + text_of(footprint, origin);
  return text;
}
// What is in memory then other than addresses as they are.
std::string stored(const std::string& body) {
  const Footprint footprint = footprint_of(body);
  return text_of_all(footprint, footprint.stored);
}
std::string left(const std::string& body) {
  const Footprint footprint = footprint_of(body);
  return text_of_all(footprint, footprint.left);
}
// Loads of the block's memory may find these origins.
std::string left_in_block(const std::string& body) {
  const Footprint footprint = footprint_of(body);
  return text_of_all(footprint, footprint.left_in_block);
}

TEST(OriginFacts, AnExchangeLeavesAnAddressAsItIs) {
  for (const char* const body : {"st.global.u64 [%a], %b;", "atom.global.exch.b64 %d1, [%a], %b;",
                                 "atom.global.cas.b64 %d1, [%a], 0, %b;"}) {
    EXPECT_EQ(stored(body), "") << body;
    EXPECT_EQ(left(body), "p1") << body;
  }
}

TEST(OriginFacts, MemoryComputesWithAnOperand) {
  for (const char* const body :
       {"atom.global.add.u64 %d1, [%a], %b;", "red.global.add.u64 [%a], %b;"}) {
    EXPECT_EQ(stored(body), "p1*") << body;
    EXPECT_EQ(left(body), "p1") << body;
  }
  EXPECT_EQ(stored("atom.global.cas.b64 %d1, [%a], %c, %b;"), "p2*")
      << "what it is compared with decides whether the other one is left";
}

// Copies that reduce add to what the kernel left.
TEST(OriginFacts, CopiesComputeWithWhatIsLeft) {
  const std::string leaves = "st.global.u64 [%b], %a;";
  EXPECT_EQ(stored(leaves + "cp.async.bulk.global.shared::cta.bulk_group [%b], [shared], 16;"), "");
  EXPECT_EQ(stored(leaves + "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%b], "
                            "[shared], 16;"),
            "p0*");
}

// A lost carry tells how the lower half and the number compare.
TEST(OriginFacts, HalvesWithANumberAreNoAddress) {
  const auto halves = [](const std::string& computes) {
    return stored("mov.b64 {%r3, %r4}, %b; " + computes +
                  "mov.b64 %d1, {%r3, %r4}; st.global.u64 [%a], %d1;");
  };
  EXPECT_EQ(halves(""), "");
  EXPECT_EQ(halves("add.u32 %r3, %r3, 5;"), "p1*");
}

// An address of the block may be given as a parameter.
TEST(OriginFacts, StoresToTheBlockAreLeftInTheBlock) {
  EXPECT_EQ(left_in_block("st.shared.u64 [shared], %b;"), "p1");
  EXPECT_EQ(left_in_block("st.shared.u64 [%a], %b;"), "p1");
  EXPECT_EQ(left_in_block("st.global.u64 [%a], %b;"), "");
}

}  // namespace
}  // namespace baton::overlap::origin_facts_test
