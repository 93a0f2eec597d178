#include "laundered_chain.h"

#include <string>

#include "address_hider.h"

namespace baton::verdicts {
namespace {

GeneratedChain hiding_chain(std::uint64_t seed, bool by_outcomes) {
  GeneratedChain chain{.seed = seed, .launches = {}};
  GeneratedLaunch& writes = chain.launches.emplace_back();
  writes.buffers = "xwty";
  writes.grid[0] = 2;
  writes.block[0] = 64;
  writes.declarations = ".reg .b64 %d<9>; .reg .b32 %r<9>;\n";
  writes.body =
      "griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
      "mad.lo.u32 %r1, %cta, %ntid, %tid; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %a, %d1;\n"
      "st.global.u32 [%d1], %r1;\n";
  AddressHider writer(seed);
  const bool races = seed % 2 == 0;
  const bool own = writer.chance(40);  // y, which the chain does not touch otherwise
  const std::string goal = races ? "%a" : own ? "%e" : "%b";
  const std::string at = by_outcomes ? writer.launder_by_outcomes(goal) : writer.launder(goal);
  writer.access(at, races || own);
  writer.line("griddepcontrol.wait;");
  GeneratedLaunch& victim = chain.launches.emplace_back();
  victim.buffers = "xwty";
  victim.block[0] = writer.chance(30) ? 64 : 32;
  victim.declarations = writer.declarations();
  victim.body = writer.text();
  return chain;
}

}  // namespace

GeneratedChain laundered_chain(std::uint64_t seed) {
  return hiding_chain(seed, false);
}

GeneratedChain told_chain(std::uint64_t seed) {
  return hiding_chain(seed, true);
}

}  // namespace baton::verdicts
