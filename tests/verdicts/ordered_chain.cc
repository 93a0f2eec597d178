#include "ordered_chain.h"

#include <array>
#include <string>

#include "ordered_kernel.h"

namespace baton::verdicts {
namespace {

GeneratedLaunch launch_of(KernelWriter& chooses, std::uint64_t seed, bool has_fences) {
  GeneratedLaunch launch;
  using Extents = std::array<std::uint32_t, 3>;
  static constexpr Extents kBlocks[] = {{32, 1, 1},  {64, 1, 1}, {64, 1, 1}, {96, 1, 1},
                                        {128, 1, 1}, {48, 1, 1}, {32, 2, 1}, {8, 4, 2},
                                        {16, 1, 4},  {33, 1, 2}, {1, 64, 1}};
  static constexpr Extents kGrids[] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 1, 1}, {1, 2, 1}};
  launch.block = kBlocks[chooses.pick(std::size(kBlocks))];
  launch.grid = kGrids[chooses.pick(std::size(kGrids))];
  launch.number = chooses.pick(4);
  for (int k = 0; k < 3; ++k) launch.buffers += chooses.any({"x", "y", "z"});
  launch.buffers += 'w';
  for (int k = 0; k < 3; ++k) launch.offsets[k] = chooses.chance(15) ? 32 * chooses.pick(5) : 0;
  if (chooses.chance(35)) {
    launch.declarations = ".reg .b64 %d<9>; .reg .b32 %r<9>;\n";
    launch.body =
        "griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
        "mad.lo.u32 %r1, %cta, %ntid, %tid; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %a, %d1;\n"
        "ld.global.u32 %r2, [%d2]; add.u64 %d3, %b, %d1; st.global.u32 [%d3], %r2;\n";
    return launch;
  }
  const auto threads = launch.block[0] * launch.block[1] * launch.block[2];
  const OrderedKernel kernel(seed, threads, has_fences);
  launch.declarations = ".reg .b32 %warp, %lane, %i; .reg .b64 %at;\n" + kernel.declarations();
  launch.body = kernel.text();
  return launch;
}

}  // namespace

GeneratedChain ordered_chain(std::uint64_t seed) {
  GeneratedChain chain{.seed = seed, .launches = {}};
  KernelWriter chooses(seed);
  const unsigned count = chooses.chance(70) ? 2 : 3;
  for (unsigned k = 0; k < count; ++k) {
    chain.launches.push_back(launch_of(chooses, seed * 4 + k + 1, seed % 2 == 0));
  }
  return chain;
}

}  // namespace baton::verdicts
