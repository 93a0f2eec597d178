#include "tools/readable_names.h"

#include <gtest/gtest.h>

namespace baton::tools {
namespace {

TEST(ReadableNames, AreReadInTheirPlaces) {
  EXPECT_EQ(with_readable_names("kernel _Z7rmsnormIfEvPKT_PS0_if, block (0, 0, 0): at _Z3addPii."),
            "kernel rmsnorm<float>, block (0, 0, 0): at add.");
  EXPECT_EQ(with_readable_names("_Z3addPii"), "add");
  EXPECT_EQ(with_readable_names("(_Z3addPii)"), "(add)");
}

TEST(ReadableNames, OthersStay) {
  for (const char* text : {"", "kernel add", "x_Z3addPii", "_Z", "_Znonsense", "ä _Zü"}) {
    EXPECT_EQ(with_readable_names(text), text);
  }
}

}  // namespace
}  // namespace baton::tools
