#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "analysis/programs.h"
#include "base/hash/hash.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;

// Of compilers, of people, of fuzzers.
constexpr const char* kFiles[] = {"src/pdl/testdata/corpus.ptx",
                                  "src/session/testdata/edges.ptx",
                                  "src/session/testdata/kernels.ptx",
                                  "src/session/testdata/tensor_maps.ptx",
                                  "src/ptx/testdata/ptx/assembly.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/async_copy.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/atomics.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/blackwell.nvcc.sm_100a.ptx",
                                  "src/ptx/testdata/ptx/calls.nvcc.sm_90.lineinfo.ptx",
                                  "src/ptx/testdata/ptx/calls.nvcc.sm_90.rdc.ptx",
                                  "src/ptx/testdata/ptx/cluster.nvcc.sm_90a.ptx",
                                  "src/ptx/testdata/ptx/groups.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/half.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/mbarrier.nvcc.sm_90a.ptx",
                                  "src/ptx/testdata/ptx/memory.nvcc.sm_90.G.ptx",
                                  "src/ptx/testdata/ptx/memory.nvcc.sm_90.rdc.ptx",
                                  "src/ptx/testdata/ptx/mma.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/pdl.nvcc.sm_90a.ptx",
                                  "src/ptx/testdata/ptx/printf_assert.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/scan.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/structs.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/switch.nvcc.sm_90.lineinfo.ptx",
                                  "src/ptx/testdata/ptx/templates.nvcc.sm_90.G.ptx",
                                  "src/ptx/testdata/ptx/tensor.nvcc.sm_90a.ptx",
                                  "src/ptx/testdata/ptx/texture.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/ptx/warp.nvcc.sm_90.ptx",
                                  "src/ptx/testdata/hand/llvm_style.ptx",
                                  "src/ptx/testdata/hand/rare.ptx",
                                  "fuzz/corpus/pdl/webs.ptx",
                                  "fuzz/corpus/pdl/waits.ptx",
                                  "fuzz/corpus/pdl/param_without_operands.ptx",
                                  "tests/conformance/kernels/triton_softmax.ptx",
                                  "tests/golden/kernels.ptx"};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What fits the parameter's type. `turn` chooses among what does.
GivenArgument argument_for(const ptx::Variable& param, std::uint64_t turn) {
  static constexpr char kMemories[] = {'x', 'y', 'w', 'x', 'f'};
  const auto memory = static_cast<overlap::MemoryId>(kMemories[turn % std::size(kMemories)]);
  if (!param.extents.empty()) {
    if (turn % 3 == 0) return {.kind = GivenArgument::Kind::kBytes};
    if (turn % 3 == 1) return GivenArgument::tensor_map(memory);
    return {.kind = GivenArgument::Kind::kStruct,
            .fields = {{0, memory, 0}, {16, 'y', 64}},
            .numbers = {{8, 4, turn % 100}, {12, 4, 1}, {24, 8, 128}}};
  }
  if (param.type == "u64" || param.type == "b64" || param.type == "s64") {
    if (turn % 11 == 10) return GivenArgument::scalar(turn % 7);
    if (turn % 5 == 4) return GivenArgument::pointer(memory, 64 * (turn % 4), 4096);
    return GivenArgument::pointer(memory, turn % 6 == 0 ? 512 : 0);
  }
  static constexpr std::uint64_t kNumbers[] = {64, 1, 0, 512, 127, 128, 3};
  return turn % 9 == 8 ? GivenArgument::scalar(std::nullopt)
                       : GivenArgument::scalar(kNumbers[turn % std::size(kNumbers)]);
}

RecordedLaunch launch_of(const ptx::Function& kernel, std::uint64_t turn) {
  static constexpr std::array<std::uint32_t, 3> kBlocks[] = {{128, 1, 1}, {32, 2, 1}, {48, 1, 1}};
  RecordedLaunch launch{.kernel = &kernel, .arguments = {}};
  std::uint64_t choice = xxh3(fmt::format("{}{}", kernel.name, turn));
  for (const ptx::Variable& param : kernel.params) {
    launch.arguments.push_back(argument_for(param, choice % 990));
    choice = choice / 5 + 7 * turn + 1;
  }
  launch.block = kBlocks[turn % std::size(kBlocks)];
  launch.grid[0] = 1 + static_cast<std::uint32_t>(turn % 4);
  return launch;
}

}  // namespace

std::vector<RecordedProgram> file_programs() {
  std::vector<RecordedProgram> programs;
  for (const char* file : kFiles) {
    const auto module =
        ptx::ParsedModule::parse(text_of(std::string(BATON_SOURCE_DIR "/") + file), file);
    const std::vector<const ptx::Function*> kernels = module->entries();
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      RecordedProgram& program = programs.emplace_back();
      program.name = fmt::format("{}/{}", file, kernels[k]->name);
      program.module = module;
      const ptx::Function& neighbour = *kernels[(k + 1) % kernels.size()];
      program.launches = {launch_of(neighbour, 1), launch_of(*kernels[k], 2),
                          launch_of(*kernels[k], 3)};
    }
  }
  return programs;
}

}  // namespace baton::record
