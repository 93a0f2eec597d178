#include "tools/explanations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace baton::tools::explanations_test {
namespace {

// Whoever asks for a code wants to know what to do. Each row stands alone.
TEST(Explanations, EachCodeHasAMeaningAndARemedy) {
  for (const Explanation& row : explanations()) {
    SCOPED_TRACE(std::string(row.table) + " " + std::string(row.id));
    EXPECT_FALSE(row.meaning.empty());
    EXPECT_FALSE(row.meaning.starts_with("the same")) << row.meaning;
    EXPECT_FALSE(row.remedy.empty());
    EXPECT_FALSE(row.page.empty());
  }
}

TEST(Explanations, EachRemedyBelongsToOneCode) {
#define BATON_REMEDY(of, code, text)                                                       \
  EXPECT_EQ(std::ranges::count_if(                                                         \
                explanations(),                                                            \
                [](const Explanation& row) { return row.table == of && row.id == code; }), \
            1)                                                                             \
      << of << " " << code;
#include "tools/remedies.inc"
#undef BATON_REMEDY
}

}  // namespace
}  // namespace baton::tools::explanations_test
