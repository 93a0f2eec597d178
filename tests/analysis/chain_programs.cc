#include <fmt/format.h>

#include "analysis/programs.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;
using verdicts::GeneratedChain;
using verdicts::GeneratedLaunch;
using verdicts::Passing;

std::vector<GivenArgument> arguments_of(const GeneratedLaunch& launch) {
  std::vector<GivenArgument> arguments;
  GivenArgument fields{.kind = GivenArgument::Kind::kStruct};
  for (std::size_t k = 0; k < launch.buffers.size(); ++k) {
    const auto memory = static_cast<overlap::MemoryId>(launch.buffers[k]);
    const std::uint64_t offset = std::uint64_t{4} * launch.offsets[k];
    const std::uint64_t bytes = launch.passing == Passing::kViews
                                    ? std::uint64_t{4} * verdicts::kElements - offset
                                    : overlap::kUnknownBytes;
    arguments.push_back(GivenArgument::pointer(memory, offset, bytes));
    fields.fields.push_back({static_cast<std::uint32_t>(8 * k), memory, offset});
  }
  arguments.push_back(GivenArgument::scalar(launch.number));
  fields.numbers.push_back({32, 4, launch.number});
  if (launch.passing == Passing::kStruct) return {fields};
  return arguments;
}

}  // namespace

std::vector<RecordedProgram> chain_programs(const ChainFamily& family) {
  std::vector<RecordedProgram> programs;
  for (std::uint64_t seed = 1; seed <= family.count; ++seed) {
    const GeneratedChain chain = family.generate(seed);
    RecordedProgram& program = programs.emplace_back();
    program.name = fmt::format("{}/{}", family.name, seed);
    program.module =
        ptx::ParsedModule::parse(verdicts::module_text(std::span(&chain, 1)), program.name);
    for (std::size_t k = 0; k < chain.launches.size(); ++k) {
      const GeneratedLaunch& launch = chain.launches[k];
      program.launches.push_back({program.module->function(verdicts::kernel_name(0, k)),
                                  arguments_of(launch), launch.grid, launch.block, k != 0});
    }
  }
  return programs;
}

}  // namespace baton::record
