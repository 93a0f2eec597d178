#include "compile/nvrtc/hints.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace baton::compiler::hints_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<std::string> hints_about(const std::string& message) {
  Diagnostic diagnostic;
  diagnostic.severity = Diagnostic::Severity::kError;
  diagnostic.message = message;
  const CompileOptions options{.arch = "sm_90a"};
  const Source source = Source::from_text("__global__ void k() {}");
  return hints_for({diagnostic}, make_request(source, options, false));
}

TEST(Hints, NameTheSearchedFolders) {
  EXPECT_THAT(hints_about("cannot open source file \"n.h\""),
              testing::ElementsAre(HasSubstr("searched for it in the folder of the file")));
}

TEST(Hints, TellWhichSearchedFolderIsNotThere) {
  Diagnostic diagnostic;
  diagnostic.severity = Diagnostic::Severity::kError;
  diagnostic.message = "cannot open source file \"n.h\"";
  const CompileOptions options{.arch = "sm_90a"};
  Source source = Source::from_text("__global__ void k() {}");
  source.include = {"/no/such", "/"};
  EXPECT_THAT(hints_for({diagnostic}, make_request(source, options, false)),
              testing::ElementsAre(HasSubstr("/no/such (no such folder), /, ")));
}

// Wheels of PyTorch bring CUDA's headers without those of crt, which some of them include.
TEST(Hints, NameThePackageOfCrt) {
  EXPECT_THAT(hints_about("cannot open source file \"crt/host_defines.h\""),
              Contains(HasSubstr("pip install nvidia-cuda-crt")));
}

}  // namespace
}  // namespace baton::compiler::hints_test
