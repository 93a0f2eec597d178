// docs/instruction-list.md shows the table of instructions as it is.

#include <fmt/core.h>

#include <cstdlib>

#include "ptx/isa.h"
#include "ptx/testdata_test.h"

namespace baton::ptx::isa_docs_test {
namespace {

using Kind = Form::Kind;
using Access = Form::Access;
using Place = Form::Place;
using Proxy = Form::Proxy;

std::string_view text(Kind kind) {
  switch (kind) {
    case Kind::kPure:
      return "computes";
    case Kind::kCarry:
      return "computes, with the carry flag";
    case Kind::kLanes:
      return "computes, with other lanes";
    case Kind::kAccess:
      return "accesses memory";
    case Kind::kAtomic:
      return "accesses memory atomically";
    case Kind::kHint:
      return "changes no value";
    case Kind::kStack:
      return "changes the stack";
    case Kind::kAsyncGroup:
      return "orders asynchronous operations";
    case Kind::kMbarrier:
      return "works on an mbarrier";
    case Kind::kMbarrierWait:
      return "tests an mbarrier";
    case Kind::kFence:
      return "fence";
    case Kind::kWarpBarrier:
      return "barrier of lanes";
    case Kind::kBlockBarrier:
      return "barrier of a block";
    case Kind::kBlockArrival:
      return "arrival at a barrier of a block";
    case Kind::kClusterBarrier:
      return "barrier of a cluster";
    case Kind::kClusterArrival:
      return "arrival at a barrier of a cluster";
    case Kind::kGridWait:
      return "waits for the grids before";
    case Kind::kGridTrigger:
      return "lets the next grid start";
    case Kind::kBranch:
      return "branch";
    case Kind::kCall:
      return "call";
    case Kind::kReturn:
      return "return";
    case Kind::kExit:
      return "ends the thread";
    case Kind::kTrap:
      return "ends the grid with an error";
  }
  return "";
}

std::string_view text(Access access) {
  switch (access) {
    case Access::kNone:
      return "";
    case Access::kRead:
      return "reads";
    case Access::kWrite:
      return "writes";
    case Access::kUpdate:
      return "updates";
    case Access::kPrefetch:
      return "prefetches";
    case Access::kCopy:
      return "copies";
    case Access::kReduce:
      return "reduces";
  }
  return "";
}

std::string_view text(Place place) {
  switch (place) {
    case Place::kNowhere:
    case Place::kNamed:
      return "";
    case Place::kShared:
      return " shared memory";
    case Place::kMap:
      return " behind a handle";
    case Place::kTensorMemory:
      return " tensor memory";
  }
  return "";
}

std::string_view text(Proxy proxy) {
  switch (proxy) {
    case Proxy::kNone:
      return "";
    case Proxy::kGeneric:
      return "generic";
    case Proxy::kNonCoherent:
      return "non-coherent";
    case Proxy::kAsync:
      return "async";
    case Proxy::kTensorMap:
      return "tensor map";
  }
  return "";
}

std::string markdown() {
  std::string out =
      "| instruction | destinations | effect | memory | proxy | PTX | target | simulated |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Form& form : forms()) {
    out += fmt::format("| `{}` | {} | {} | {}{} | {} | {}.{} | {} | {} |\n", form.name,
                       form.destinations, text(form.kind), text(form.access), text(form.place),
                       text(form.proxy), form.ptx_version / 10, form.ptx_version % 10,
                       form.architecture == 0
                           ? std::string("all")
                           : fmt::format("sm_{}{}", form.architecture, form.is_specific ? "a" : ""),
                       form.is_simulated() ? "yes" : "no");
  }
  return out;
}

// BATON_WRITE_DOCS=1 writes the table into the page.
TEST(Isa, TheDocumentationHasTheTable) {
  const auto path = std::filesystem::path(BATON_SOURCE_DIR) / "docs/instruction-list.md";
  const std::string page = read_text(path);
  constexpr std::string_view kBegin = "<!-- table of instructions: from src/ptx/isa.inc -->\n";
  constexpr std::string_view kEnd = "<!-- end of the table of instructions -->\n";
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t first = begin + kBegin.size();
  const std::string wanted = fmt::format("\n{}\n", markdown());
  if (std::getenv("BATON_WRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << page.substr(0, first) << wanted << page.substr(end);
  } else {
    EXPECT_EQ(page.substr(first, end - first), wanted)
        << "run this test with BATON_WRITE_DOCS=1 to bring the page up to date";
  }
}

}  // namespace
}  // namespace baton::ptx::isa_docs_test
