#include "program/writer/without_sources.h"

#include <gtest/gtest.h>

#include "baton/error.h"
#include "baton/program.h"

namespace baton::without_sources_test {
namespace {

TEST(WithoutSources, LeavesEverythingElseInItsPlace) {
  const std::string toml =
      "# ä comment\n"
      "[kernels.a]\n"
      "text = '''\n__global__ void a() {}\n'''  # kept\n"
      "prelude = \"#define X \\\"y\\\"\"\n"
      "[kernels]\n"
      "b = { entry = \"ü\", text = \"secret\", options = [\"-DX\"] }\n"
      "c.source = \"c.cu\"\n"
      "[[steps]]\nlaunch = \"a\"\ngrid = [1]\nblock = [1]\nargs = []\n";
  EXPECT_EQ(without_sources(toml, "p.toml"),
            "# ä comment\n"
            "[kernels.a]\n"
            "text = '''// left out\n\n'''  # kept\n"
            "prelude = '''// left out'''\n"
            "[kernels]\n"
            "b = { entry = \"ü\", text = '''// left out''', options = [\"-DX\"] }\n"
            "c.source = \"c.cu\"\n"
            "[[steps]]\nlaunch = \"a\"\ngrid = [1]\nblock = [1]\nargs = []\n");
  Program::from_text(without_sources(toml, "p.toml"), "p.toml");
}

TEST(WithoutSources, NeedsNoKernels) {
  EXPECT_EQ(without_sources("name = \"x\"\n", "p.toml"), "name = \"x\"\n");
  EXPECT_THROW(without_sources("name = ", "p.toml"), Error);
}

}  // namespace
}  // namespace baton::without_sources_test
