#include "exchange_chain.h"

#include "exchange_kernel.h"

namespace baton::verdicts {
namespace {

GeneratedLaunch launch_of(KernelWriter& chooses, std::uint64_t seed) {
  GeneratedLaunch launch;
  launch.cluster = chooses.chance(70) ? 2 : 1;
  launch.grid[0] = launch.cluster * (1 + chooses.pick(2));
  launch.block[0] = 32 * (1 + chooses.pick(2));
  launch.number = chooses.pick(3);
  for (int k = 0; k < 3; ++k) launch.buffers += chooses.any({"x", "y", "z"});
  launch.buffers += 'w';
  // Bulk copies begin at multiples of 16 bytes.
  for (int k = 0; k < 3; ++k) launch.offsets[k] = chooses.chance(20) ? 64 * chooses.pick(5) : 0;
  const ExchangeKernel kernel(seed, launch.cluster, launch.block[0]);
  launch.declarations =
      ".reg .b32 %warp, %i, %rank, %other; .reg .pred %first;\n" + kernel.declarations();
  launch.body = kernel.text();
  return launch;
}

}  // namespace

GeneratedChain exchange_chain(std::uint64_t seed) {
  GeneratedChain chain{.seed = seed, .launches = {}};
  KernelWriter chooses(seed);
  const unsigned count = chooses.chance(70) ? 2 : 3;
  for (unsigned k = 0; k < count; ++k) {
    chain.launches.push_back(launch_of(chooses, seed * 4 + k + 1));
  }
  return chain;
}

}  // namespace baton::verdicts
