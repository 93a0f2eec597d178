// Whether a launch may leave in memory what leads from one buffer to another, and what it may then
// load as an index.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pdl/footprint/address_binder.h"
#include "pdl/test_support.h"

namespace baton::overlap::left_addresses_test {
namespace {

// p0 and p1 are buffers, and p2 is what a test gives it.
struct Bound {
  bool stores_differences = false;
  bool knows_all = true;  // the memory of each access
};
Bound bound(const std::string& body, const GivenArgument& third) {
  const Footprint found = footprint_of(body);
  const std::vector<GivenArgument> given = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                            third, GivenArgument::scalar(7)};
  const VariableNumber variable = [](std::string_view, bool) { return MemoryId{9}; };
  const AddressBinder binder(found, given, variable, LoadedValue::kFollowed);
  return {binder.stores_differences(),
          std::ranges::none_of(found.accesses, [&](const AccessGroup& access) {
            return binder.touched(access).unknown.has_value();
          })};
}

// Parts of an address show in the place that is written.
TEST(LeftAddresses, AreToldByWhatIsWrittenWhere) {
  const auto indexed_by = [](const std::string& index) {
    return "cvt.u32.u64 %r3, " + index +
           "; mul.lo.u32 %r3, %r3, 3; cvt.u64.u32 %d1, %r3; add.s64 %d1, %a, %d1;\n"
           "st.global.u32 [%d1], 1;";
  };
  const GivenArgument number = GivenArgument::scalar(8);
  EXPECT_FALSE(bound("st.global.u32 [%a], 1;", number).stores_differences);
  EXPECT_FALSE(bound(indexed_by("%c"), number).stores_differences);
  EXPECT_TRUE(bound(indexed_by("%b"), number).stores_differences);
  EXPECT_TRUE(bound(indexed_by("%c"), GivenArgument{}).stores_differences)
      << "bytes that may be any address";
}

// An address plus a number leads to its own buffer, wherever it is stored.
TEST(LeftAddresses, WithANumberLeadToNoOtherBuffer) {
  const std::string body =
      "add.s64 %d1, %a, %c; st.global.u64 [%b], %d1;\n"
      "ld.global.u64 %d2, [%b+64]; add.s64 %d3, %a, %d2; ld.global.u32 %r3, [%d3];";
  EXPECT_TRUE(bound(body, GivenArgument::scalar(8)).knows_all);
  EXPECT_FALSE(bound(body, GivenArgument::pointer(3)).knows_all);
  EXPECT_FALSE(bound(body, GivenArgument{}).knows_all);
}

}  // namespace
}  // namespace baton::overlap::left_addresses_test
