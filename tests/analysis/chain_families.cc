#include "analysis/chain_families.h"

#include "verdicts/exchange_chain.h"
#include "verdicts/laundered_chain.h"
#include "verdicts/ordered_chain.h"
#include "verdicts/outlined_chain.h"
#include "verdicts/signal_chain.h"

namespace baton::record {
namespace {

using verdicts::GeneratedChain;
using verdicts::GeneratedLaunch;
using verdicts::Passing;

GeneratedChain passed(GeneratedChain chain, Passing passing) {
  for (GeneratedLaunch& launch : chain.launches) launch.passing = passing;
  return chain;
}

}  // namespace

const std::vector<ChainFamily>& chain_families() {
  static const std::vector<ChainFamily> kFamilies = {
      {"ordered", verdicts::ordered_chain, 160},
      {"laundered", verdicts::laundered_chain, 192},
      {"outlined", [](std::uint64_t seed) { return outlined(verdicts::ordered_chain(seed), seed); },
       32},
      {"outlined_pointers",
       [](std::uint64_t seed) { return outlined(verdicts::laundered_chain(seed), seed); }, 32},
      {"structs",
       [](std::uint64_t seed) { return passed(verdicts::ordered_chain(seed), Passing::kStruct); },
       64},
      {"views",
       [](std::uint64_t seed) { return passed(verdicts::ordered_chain(seed), Passing::kViews); },
       32},
      {"exchange", verdicts::exchange_chain, 96},
      {"signals", verdicts::signal_chain, 96},
      {"pipelines", verdicts::pipeline_chain, 64},
      {"flags", verdicts::flag_chain, 64}};
  return kFamilies;
}

}  // namespace baton::record
