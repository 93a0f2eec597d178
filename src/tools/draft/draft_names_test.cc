#include "tools/draft/draft_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace baton::tools::draft_names_test {
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

// The kernels k1, k2, and so on.
struct Kernels {
  std::vector<KernelFacts> facts;
  image::DebugParams names;

  explicit Kernels(const std::vector<std::vector<Param>>& kernels) {
    for (const std::vector<Param>& params : kernels) {
      KernelFacts& kernel = facts.emplace_back();
      kernel.name = fmt::format("k{}", facts.size());
      kernel.params.emplace();
      for (const Param& param : params) {
        kernel.params->push_back(param.facts);
        names[kernel.name].emplace_back().name = param.name;
      }
    }
  }
  std::vector<std::string> sizes(std::size_t kernel = 0) const {
    return DraftNames(facts, names).size(facts[kernel]).symbols;
  }
  std::string count(std::size_t index, std::size_t kernel = 0) const {
    return DraftNames(facts, names).count(facts[kernel], index);
  }
};

using Symbols = std::vector<std::string>;

TEST(DraftNames, EachCountIsASymbol) {
  const Param n = number(DType::kI32, "n"), rows = number(DType::kI32, "rows");
  const Kernels kernels({{pointer("x"), n, rows}, {rows, number(DType::kU64, "n")}});
  EXPECT_EQ(kernels.sizes(), (Symbols{"n", "rows"}));
  EXPECT_EQ(kernels.sizes(1), (Symbols{"rows", "n"}));
  EXPECT_EQ(kernels.count(1), "n");
  EXPECT_EQ(kernels.count(2), "rows");
  EXPECT_EQ(Kernels({{number(DType::kF32, "n"), rows}}).sizes(), (Symbols{"rows"}));
}

TEST(DraftNames, ACountThatIsCalledOtherwiseIsASizeWithoutOthers) {
  const Param shift = number(DType::kI32, "shift");
  const Kernels kernels({{shift, number(DType::kI32, "n")}, {shift}, {}});
  EXPECT_EQ(kernels.sizes(), (Symbols{"n"}));
  EXPECT_EQ(kernels.count(0), "shift");
  EXPECT_EQ(kernels.sizes(1), (Symbols{"shift"}));
  EXPECT_EQ(kernels.sizes(2), (Symbols{"N"}));
}

TEST(DraftNames, ACountWithoutANameThatAProgramTakesIsN) {
  const Kernels kernels(
      {{number(DType::kI32, ""), number(DType::kI32, "größe"), number(DType::kI32, "min")}});
  EXPECT_EQ(kernels.sizes(), (Symbols{"N"}));
  EXPECT_EQ(kernels.count(0), "N");
  EXPECT_EQ(kernels.count(1), "N");
  EXPECT_EQ(kernels.count(2), "min_");
}

TEST(DraftNames, NoBufferHasTheNameOfACount) {
  const Kernels kernels({{number(DType::kI32, "n")}});
  EXPECT_EQ(DraftNames(kernels.facts, kernels.names).buffer("", "n", 1), "n_");
}

TEST(DraftNames, NamesOfFieldsAreWords) {
  EXPECT_EQ(underscored("range[1].first"), "range_1_first");
}

TEST(DraftNames, NamesOfAnotherNumberOfParametersAreNotTaken) {
  const auto named = [](const std::vector<std::string>& names) {
    image::DebugParams params;
    for (const std::string& name : names) params["k"].emplace_back().name = name;
    return params;
  };
  KernelFacts kernel;
  kernel.name = "k";
  kernel.params = {pointer("").facts, pointer("").facts};
  EXPECT_EQ(DraftNames({kernel}, named({"x", "y"})).param(kernel, 1), "y");
  EXPECT_EQ(DraftNames({kernel}, named({"x"})).param(kernel, 1), "");
  EXPECT_EQ(DraftNames({kernel}, named({"größe", "exp"})).param(kernel, 0), "");
  EXPECT_EQ(DraftNames({kernel}, named({"größe", "exp"})).param(kernel, 1), "exp");
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
}  // namespace baton::tools::draft_names_test
