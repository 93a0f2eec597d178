#include "tools/draft/draft_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace baton::tools {
namespace {

struct Param {
  ParamFacts facts;
  std::string name;
};

Param pointer(std::string name) {
  ParamFacts facts;
  facts.size = 8;
  facts.kind = ParamKind::kPointer;
  return {facts, std::move(name)};
}

Param number(DType dtype, std::string name) {
  ParamFacts facts;
  facts.size = static_cast<std::uint32_t>(size_of(dtype));
  facts.kind = ParamKind::kScalar;
  facts.dtype = dtype;
  return {facts, std::move(name)};
}

std::string size_of_draft(const std::vector<std::vector<Param>>& kernels) {
  std::vector<KernelFacts> facts;
  image::DebugParams names;
  for (const std::vector<Param>& params : kernels) {
    KernelFacts& kernel = facts.emplace_back();
    kernel.name = fmt::format("k{}", facts.size());
    kernel.params.emplace();
    for (const Param& param : params) {
      kernel.params->push_back(param.facts);
      names[kernel.name].push_back({param.name, {}});
    }
  }
  return DraftNames(facts, names).size();
}

TEST(DraftNames, TheSizeIsTheOneCount) {
  const Param n = number(DType::kI32, "n");
  EXPECT_EQ(size_of_draft({{pointer("x"), n}}), "n");
  EXPECT_EQ(size_of_draft({{n}, {number(DType::kU64, "n")}, {pointer("y")}}), "n");
  EXPECT_EQ(size_of_draft({{number(DType::kF32, "n"), number(DType::kI32, "num_rows")}}),
            "num_rows");
}

TEST(DraftNames, SeveralCountsHaveNoNameInCommon) {
  const Param rows = number(DType::kI32, "rows");
  EXPECT_EQ(size_of_draft({{rows, number(DType::kI32, "cols")}}), "N");
  EXPECT_EQ(size_of_draft({{rows}, {number(DType::kI32, "cols")}}), "N");
  EXPECT_EQ(size_of_draft({{number(DType::kI32, "")}}), "N");
  EXPECT_EQ(size_of_draft({}), "N");
}

TEST(DraftNames, ACountThatIsCalledOtherwiseIsNoSize) {
  EXPECT_EQ(size_of_draft({{number(DType::kI32, "shift")}}), "N");
}

TEST(DraftNames, NamesOfAnotherNumberOfParametersAreNotTaken) {
  KernelFacts kernel;
  kernel.name = "k";
  kernel.params = {pointer("").facts, pointer("").facts};
  EXPECT_EQ(DraftNames({kernel}, {{"k", {{"x", {}}, {"y", {}}}}}).param(kernel, 1), "y");
  EXPECT_EQ(DraftNames({kernel}, {{"k", {{"x", {}}}}}).param(kernel, 1), "");
  EXPECT_EQ(DraftNames({kernel}, {{"k", {{"größe", {}}, {"exp", {}}}}}).param(kernel, 0), "");
  EXPECT_EQ(DraftNames({kernel}, {{"k", {{"größe", {}}, {"exp", {}}}}}).param(kernel, 1), "exp");
}

TEST(DraftNames, BuffersAreCalledAsTheSourceCallsThem) {
  DraftNames names({}, {});
  EXPECT_EQ(names.buffer("", "x", 0), "x");
  EXPECT_EQ(names.buffer("norm", "x", 0), "norm_x");
  EXPECT_EQ(names.buffer("", "", 3), "p3");
  EXPECT_EQ(names.buffer("norm", "", 3), "norm_3");
}

TEST(DraftNames, NamesThatAProgramRefusesGetASuffix) {
  DraftNames names({}, {});
  EXPECT_EQ(names.buffer("", "exp", 0), "exp_");
  EXPECT_EQ(names.buffer("k", "exp", 0), "k_exp");
  EXPECT_EQ(names.buffer("", "N", 0), "N_");
  EXPECT_EQ(names.buffer("", "x", 0), "x");
  EXPECT_EQ(names.buffer("", "x", 0), "x_");
}

}  // namespace
}  // namespace baton::tools
