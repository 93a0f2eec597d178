#include "tools/draft/reference_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace baton::tools::reference_script_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string script_of(const std::string& buffers) {
  return reference_script(
      Program::from_text("[symbols]\nN = 50\n[buffers]\n" + buffers +
                             "\n[[steps]]\nrepeat = \"N / 2\"\nsteps = [ { fill = { buffer = "
                             "\"o\", value = 0 } } ]\n",
                         "p.toml"),
      "p.toml", "p_reference.py", "p_expected");
}

TEST(ReferenceScript, HasTheContentsOfBuffers) {
  const std::string script = script_of(R"toml(
a = { dtype = "f32", shape = "N / 2", role = "input", init = "random" }
b = { dtype = "i8", shape = ["N", 2], role = "inout", init = { uniform = [-127, 127] } }
c = { dtype = "f16", shape = ["ceildiv(N, 3)"], role = "weight", init = { normal = 0.02 } }
d = { dtype = "bool", shape = [], role = "input", init = "random" }
e = { dtype = "i64", shape = "N", role = "state", init = "arange" }
o = { dtype = "f64", shape = "N", role = "output" })toml");
  for (const char* line : {
           "SEED = 0\nN = 50\n",
           "\"a\": floats(\"a\", (N // 2,)).astype(np.float32),",
           "\"b\": integers(\"b\", (N, 2,), -127, 127).astype(np.int8),",
           "\"c\": normal(\"c\", (ceildiv(N, 3),), 0.02).astype(np.float16),",
           "\"d\": integers(\"d\", (), 0, 1) == 1,",
           "\"e\": arange(\"e\", (N,)).astype(np.int64),",
           "def reference(a, b, c, d, e):",
           "    # N / 2 times:",
           "\"o\": ((N,), np.float64),",
           "baton run p.toml --expect p_expected",
       }) {
    EXPECT_THAT(script, HasSubstr(line));
  }
  EXPECT_THAT(script, AllOf(Not(HasSubstr("bf16")), Not(HasSubstr("\"o\": floats"))));
}

TEST(ReferenceScript, RoundsToBfloat16) {
  const std::string script =
      script_of("o = { dtype = \"bf16\", shape = \"N\", role = \"inout\", init = \"random\" }");
  EXPECT_THAT(script, HasSubstr("\"o\": bf16(floats(\"o\", (N,))),"));
  EXPECT_THAT(script, HasSubstr("\"o\": ((N,), None),"));
  EXPECT_THAT(script, HasSubstr("def bf16_bits"));
}

TEST(ReferenceScript, NamesThatPythonKeepsGetASuffix) {
  const std::string script = reference_script(
      Program::from_text("[symbols]\nnp = 50\n[buffers]\n"
                         "in = { dtype = \"f32\", shape = \"np / 2\", role = \"input\", init = "
                         "\"random\" }\n[[steps]]\nfill = { buffer = \"in\", value = 0 }\n",
                         "p.toml"),
      "p.toml", "p_reference.py", "p_expected");
  EXPECT_THAT(script, HasSubstr("np_ = 50\n"));
  EXPECT_THAT(script, HasSubstr("({\"np\": \"np_\", }.get(n, n), int(v))"));
  EXPECT_THAT(script, HasSubstr("def reference(in_):"));
  EXPECT_THAT(script, HasSubstr("\"in_\": floats(\"in\", (np_ // 2,)).astype(np.float32),"));
}

TEST(ReferenceScript, RefusesWhatNumPyLacks) {
  try {
    script_of("o = { dtype = \"f8e4m3\", shape = \"N\", role = \"inout\", init = \"random\" }");
    FAIL() << "it was accepted";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("has no f8e4m3, which the buffer o has"));
  }
}

}  // namespace
}  // namespace baton::tools::reference_script_test
