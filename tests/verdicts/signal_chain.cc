#include "signal_chain.h"

#include "flag_kernel.h"
#include "pipeline_kernel.h"
#include "signal_kernel.h"

namespace baton::verdicts {
namespace {

enum class Writer { kPlain, kSignals, kPipeline, kFlags };

GeneratedLaunch launch_of(KernelWriter& chooses, std::uint64_t seed, Writer writer) {
  GeneratedLaunch launch;
  launch.cluster = writer == Writer::kSignals && chooses.chance(20) ? 2 : 1;
  launch.grid[0] = launch.cluster * (1 + chooses.pick(2));
  static constexpr std::uint32_t kThreads[] = {64, 96, 96, 128, 80, 70};
  static constexpr std::uint32_t kWholeWarps[] = {64, 96, 128};
  launch.block[0] = writer == Writer::kPipeline ? kWholeWarps[chooses.pick(std::size(kWholeWarps))]
                                                : kThreads[chooses.pick(std::size(kThreads))];
  launch.number = chooses.pick(3);
  for (int k = 0; k < 3; ++k) launch.buffers += chooses.any({"x", "y", "z"});
  launch.buffers += 'w';
  for (int k = 0; k < 3; ++k) launch.offsets[k] = chooses.chance(20) ? 64 * chooses.pick(5) : 0;
  if (writer == Writer::kPlain) {
    launch.declarations = ".reg .b64 %d<9>; .reg .b32 %r<9>;\n";
    launch.body =
        "griddepcontrol.launch_dependents; griddepcontrol.wait;\n"
        "mad.lo.u32 %r1, %cta, %ntid, %tid; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %a, %d1;\n"
        "ld.global.u32 %r2, [%d2]; add.u64 %d3, %b, %d1; st.global.u32 [%d3], %r2;\n";
    return launch;
  }
  if (writer == Writer::kPipeline) {
    const PipelineKernel kernel(seed, launch.block[0]);
    launch.declarations = ".reg .b32 %warp, %lane, %i, %tiles, %tile, %stage, %phase, %base;\n" +
                          kernel.declarations();
    launch.body = kernel.text();
    return launch;
  }
  if (writer == Writer::kFlags) {
    const FlagKernel kernel(seed, launch.block[0]);
    launch.declarations = ".reg .b32 %warp, %lane, %i;\n" + kernel.declarations();
    launch.body = kernel.text();
    return launch;
  }
  const SignalKernel kernel(seed, launch.cluster, launch.block[0]);
  launch.declarations = ".reg .b32 %warp, %lane, %i, %rank, %other;\n" + kernel.declarations();
  launch.body = kernel.text();
  return launch;
}

GeneratedChain chain_of(std::uint64_t seed, Writer writer) {
  GeneratedChain chain{.seed = seed, .launches = {}};
  KernelWriter chooses(seed);
  const unsigned count = chooses.chance(70) ? 2 : 3;
  for (unsigned k = 0; k < count; ++k) {
    const bool is_plain = k == 0 && chooses.chance(70);
    chain.launches.push_back(
        launch_of(chooses, seed * 4 + k + 1, is_plain ? Writer::kPlain : writer));
  }
  return chain;
}

}  // namespace

GeneratedChain signal_chain(std::uint64_t seed) {
  return chain_of(seed, Writer::kSignals);
}

GeneratedChain pipeline_chain(std::uint64_t seed) {
  return chain_of(seed, Writer::kPipeline);
}

GeneratedChain flag_chain(std::uint64_t seed) {
  return chain_of(seed, Writer::kFlags);
}

}  // namespace baton::verdicts
