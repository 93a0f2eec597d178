#include "pdl/testdata/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pdl/rewrite/rewrite.h"
#include "pdl/verdict/chain.h"
#include "pdl/verdict/launch_evidence.h"

// Programs with planted bugs and without, of kernels that a compiler made (testdata/corpus.cu). An
// unsafe program is never proven; a right one of plain structure is.

namespace baton::overlap::corpus_test {
namespace {

using Kind = EdgeVerdict;

const std::shared_ptr<const ptx::ParsedModule>& corpus() {
  static const auto kModule = [] {
    std::ifstream file(BATON_SOURCE_DIR "/src/pdl/testdata/corpus.ptx");
    std::ostringstream text;
    text << file.rdbuf();
    return ptx::ParsedModule::parse(text.str(), "corpus.ptx");
  }();
  return kModule;
}

// The same, where every kernel that waits has been rewritten.
const std::shared_ptr<const ptx::ParsedModule>& rewritten_corpus() {
  static const auto kModule = [] {
    std::vector<RewriteRequest> requests;
    for (const ptx::Function* kernel : corpus()->entries()) {
      const Footprint found = read_footprint(corpus(), *kernel, {});
      if (found.waits != Footprint::Waits::kNever) requests.push_back({kernel, {}, {}});
    }
    return rewrite(corpus(), requests).module;
  }();
  return kModule;
}

class CorpusChain {
 public:
  explicit CorpusChain(const std::string& line,
                       std::shared_ptr<const ptx::ParsedModule> module = corpus())
      : module_(std::move(module)) {
    for (const CorpusLaunch& launch : corpus_launches(line)) read(launch);
  }

  // The worst over all edges, and its text.
  std::pair<Kind, std::string> judge() {
    LaunchChain chain([](MemoryId id) { return id == 'w'; });
    std::pair<Kind, std::string> worst = {Kind::kProven, ""};
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      if (k > 0) {
        refine(launches_[k], arguments_[k], kBlock, kGrid);
        LaunchEvidence evidence(examined_[k], [this](std::uint32_t position) -> ExaminedLaunch& {
          return examined_[position];
        });
        const Verdict verdict = chain.judge(launches_[k], &evidence);
        if (verdict.kind > worst.first) worst = {verdict.kind, text_of(verdict)};
      }
      chain.follow(launches_[k], k > 0);
    }
    return worst;
  }

 private:
  void read(const CorpusLaunch& launch) {
    const ptx::Function* kernel = module_->function(launch.kernel);
    if (kernel == nullptr) throw std::runtime_error("no kernel " + launch.kernel);
    std::vector<GivenArgument>& arguments = arguments_.emplace_back();
    for (const std::string& word : launch.words) arguments.push_back(argument(word));
    EXPECT_EQ(arguments.size(), kernel->params.size()) << launch.kernel;
    const Footprint& footprint = footprints_.emplace_back(read_footprint(module_, *kernel, kBlock));
    const VariableNumber number = [](std::string_view name, bool) {
      return 1000 + static_cast<MemoryId>(name[0]);
    };
    BoundLaunch& bound =
        launches_.emplace_back(overlap::bind(footprint, arguments, kBlock, kGrid, number));
    bound.number = static_cast<std::uint32_t>(launches_.size() - 1);
    examined_.emplace_back(footprint, arguments, LaunchExtents{kBlock, kGrid}, number, budget_);
  }

  static GivenArgument argument(const std::string& word) {
    GivenArgument out;
    if (word == "{}") {
      out.kind = GivenArgument::Kind::kScalar;
    } else if (std::isalpha(static_cast<unsigned char>(word[0])) != 0) {
      out.kind = GivenArgument::Kind::kMemory;
      out.memory = static_cast<MemoryId>(word[0]);
      out.offset = word.size() > 1 ? std::strtoull(word.c_str() + 1, nullptr, 10) : 0;
    } else {
      out.kind = GivenArgument::Kind::kScalar;
      out.bits = std::strtoull(word.c_str(), nullptr, 10);
    }
    return out;
  }

  // "conflict: at corpus.ptx:14"
  static std::string text_of(const Verdict& verdict) {
    const std::string where = verdict.own == nullptr ? "" : ": at " + verdict.own->where;
    return std::string(to_string(verdict.cause)) + where;
  }

  const std::shared_ptr<const ptx::ParsedModule> module_;
  static constexpr std::array<std::uint32_t, 3> kBlock = {128, 1, 1}, kGrid = {4, 1, 1};
  std::deque<Footprint> footprints_;
  EvidenceBudget budget_{.witness_steps = std::uint64_t{1} << 20};
  std::deque<ExaminedLaunch> examined_;  // by launch
  std::vector<std::vector<GivenArgument>> arguments_;
  std::vector<BoundLaunch> launches_;
};

class RightChains : public testing::TestWithParam<const char*> {};
class WrongChains : public testing::TestWithParam<const char*> {};
class DoubtfulChains : public testing::TestWithParam<const char*> {};

std::string word(Kind kind) {
  return kind == Kind::kProven ? "proven" : kind == Kind::kUnsafe ? "unsafe" : "unknown";
}

TEST_P(RightChains, IsProven) {
  const auto [kind, text] = CorpusChain(GetParam()).judge();
  EXPECT_EQ(word(kind), "proven") << text;
}
TEST_P(WrongChains, HasAWitness) {
  const auto [kind, text] = CorpusChain(GetParam()).judge();
  EXPECT_EQ(word(kind), "unsafe") << text;
}
TEST_P(DoubtfulChains, IsNotProven) {
  const auto [kind, text] = CorpusChain(GetParam()).judge();
  EXPECT_EQ(word(kind), "unknown") << text;
}

// Plain loads in place of the non-coherent ones after waits prove what those alone stood in the
// way of, and change no other verdict.
TEST(Corpus, RewritingKernelsThatWaitMendsTheirLoadsAlone) {
  int mended = 0;
  const auto hold = [&](const auto& lines) {
    for (const std::string line : lines) {
      const bool loads = line.find("; non_coherent") != std::string::npos;
      mended += loads ? 1 : 0;
      const auto [kind, text] = CorpusChain(line, rewritten_corpus()).judge();
      EXPECT_EQ(word(kind), word(loads ? Kind::kProven : CorpusChain(line).judge().first))
          << line << ": " << text;
    }
  };
  hold(kRight);
  hold(kWrong);
  hold(kDoubtful);
  EXPECT_GT(mended, 0);
}

INSTANTIATE_TEST_SUITE_P(Corpus, RightChains, testing::ValuesIn(kRight));

INSTANTIATE_TEST_SUITE_P(Corpus, WrongChains, testing::ValuesIn(kWrong));

INSTANTIATE_TEST_SUITE_P(Corpus, DoubtfulChains, testing::ValuesIn(kDoubtful));

}  // namespace
}  // namespace baton::overlap::corpus_test
