#include "image/names/readable_names.h"

#include <gtest/gtest.h>

namespace baton::image::readable_names_test {
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

TEST(ReadableNames, OfAnErrorAreInItsMessageAndNotes) {
  Error error(ErrorCode::kFault, "kernel _Z3addPii faulted", SourceLocation{"k.cu", 3, 7});
  error.note("after _Z3addPii");
  error.of_driver(700);
  const Error readable = with_readable_names(error);
  EXPECT_EQ(readable.message(), "kernel add faulted");
  EXPECT_EQ(readable.notes(), std::vector<std::string>{"after add"});
  EXPECT_EQ(readable.where().to_string(), "k.cu:3:7");
  EXPECT_EQ(readable.code(), ErrorCode::kFault);
  EXPECT_EQ(readable.driver_result(), 700);
}

}  // namespace
}  // namespace baton::image::readable_names_test
