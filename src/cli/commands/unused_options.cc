#include "cli/commands/unused_options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tools/basics.h"

namespace baton::cli {
namespace {

bool is_random(const ProgramBuffer& buffer) {
  return buffer.init == BufferInit::kRandom || buffer.init == BufferInit::kNormal ||
         buffer.init == BufferInit::kUniform;
}

bool is_compiled(const ProgramKernel& kernel) {
  return kernel.origin == KernelOrigin::kSource || kernel.origin == KernelOrigin::kText ||
         kernel.origin == KernelOrigin::kLink;
}

}  // namespace

void require_collectives(CollectiveExecutor given, const Program& program) {
  if (given == CollectiveExecutor::kAuto || program.world()) return;
  throw error(ErrorCode::kInvalidInput,
              "--collectives says what exchanges contents between ranks, and {} has no world; add "
              "[world] to it, or leave the option out",
              printable(program.name()));
}

void warn_of_seed(std::uint64_t given, const Program& program, Output& output) {
  if (given == 0 || std::ranges::any_of(program.buffers(), is_random)) return;
  output.warning(fmt::format("--seed {} has no effect: no buffer of {} has random contents", given,
                             printable(program.name())));
}

void warn_of_pdl(PdlMode given, const Program& program, const std::vector<EdgeReport>& edges,
                 Output& output) {
  const auto is_asked = [](const EdgeReport& edge) {
    return edge.decision == EdgeDecision::kAsked;
  };
  if (given != PdlMode::kOn || std::ranges::any_of(edges, is_asked)) return;
  const std::string_view why = edges.empty()
                                   ? "has no launch that follows another one"
                                   : "has no launch that starts early by it; baton check with "
                                     "--pdl on shows the decision about each edge";
  output.warning(fmt::format("--pdl on has no effect: {} {}", printable(program.name()), why));
}

void warn_of_unused(const CheckCommand& command, const CheckedFiles& checked, Output& output) {
  const std::pair<bool, std::string_view> of_programs[] = {
      {!command.symbols.empty(), "--set"},
      {command.pdl != PdlMode::kAuto, "--pdl"},
      {command.rewrite.has_value(), "--rewrite"},
      {command.collectives != CollectiveExecutor::kAuto, "--collectives"}};
  for (const auto& [is_given, option] : of_programs) {
    if (!is_given || checked.has_program) continue;
    output.warning(fmt::format("{} has no effect: it is for programs, and no file is one", option));
  }
  if (command.device && !checked.device) {
    output.warning(fmt::format("--device {} has no effect: a record is checked for its own device",
                               printable(*command.device)));
  }
}

void warn_of_unused(const BuildCommand& command, const Program& program, Output& output) {
  if (!command.architectures.empty() && std::ranges::none_of(program.kernels(), is_compiled)) {
    output.warning(
        fmt::format("--arch has no effect: the kernels of {} are images, and nothing is compiled",
                    printable(program.name())));
  }
  const auto is_read = [](const ProgramBuffer& buffer) { return buffer.init == BufferInit::kFile; };
  if (command.weights && std::ranges::none_of(program.buffers(), is_read)) {
    output.warning(fmt::format("--weights has no effect: no buffer of {} is read from a file",
                               printable(program.name())));
  }
}

}  // namespace baton::cli
