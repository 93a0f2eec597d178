#include "edges/peer_launch.h"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "peer/division.h"
#include "peer/kernel_parameters.h"
#include "peer/kernels.h"
#include "peer/own_launch.h"
#include "ptx/ast.h"

namespace baton::edges {
namespace {

using overlap::GivenArgument;
using peer::KernelParameter;

constexpr std::size_t kParameters = std::size(peer::kAllReduceParameters);

overlap::Footprint read(DType dtype) {
  const std::string name = "baton_all_reduce_" + std::string(peer::suffix_of(dtype).value());
  const auto module = ptx::ParsedModule::parse(peer::kernels_ptx(true), "all_reduce_90.ptx");
  const ptx::Function* const function = module->function(name);
  // Arguments of another kernel say nothing.
  if (function == nullptr || !function->has_body || function->params.size() != kParameters) {
    return overlap::unknown_footprint(name, {}, {}, {overlap::UnseenCause::kNoKernel});
  }
  return overlap::read_footprint(module, *function, {peer::kThreads, 1, 1});
}

// Read once: the text is a part of the library.
const overlap::Footprint& footprint_of(DType dtype) {
  static std::mutex mutex;
  static std::map<DType, std::unique_ptr<const overlap::Footprint>> known;
  const std::lock_guard lock(mutex);
  auto& footprint = known[dtype];
  if (footprint == nullptr) footprint = std::make_unique<const overlap::Footprint>(read(dtype));
  return *footprint;
}

// Everything that any rank's slots and epochs are.
GivenArgument ranks_argument(overlap::MemoryId shared) {
  GivenArgument ranks;
  ranks.kind = GivenArgument::Kind::kStruct;
  for (std::uint32_t rank = 0; rank < peer::kMostRanks; ++rank) {
    ranks.fields.push_back({rank * static_cast<std::uint32_t>(sizeof(std::uint64_t)), shared});
  }
  return ranks;
}

GivenArgument epilogue_argument(const bind::PlannedEpilogue& planned,
                                const bind::PlannedEpilogue::Values& values,
                                const std::function<MemoryPlace(std::uint32_t)>& place) {
  GivenArgument epilogue;
  epilogue.kind = GivenArgument::Kind::kStruct;
  const auto set = [&](std::size_t position, const bind::PlannedEpilogue::Place* given,
                       std::uint64_t offset) {
    const auto at = static_cast<std::uint32_t>(position);
    if (given == nullptr) {
      epilogue.numbers.push_back({at, sizeof(std::uint64_t), 0});
      return;
    }
    const MemoryPlace begin = place(given->buffer);
    epilogue.fields.push_back({at, begin.memory, begin.offset + offset});
  };
  const bool has_norm = planned.norm.has_value();
  set(offsetof(peer::Epilogue, add), planned.add ? &*planned.add : nullptr, values.add);
  set(offsetof(peer::Epilogue, weight), has_norm ? &planned.norm->weight : nullptr, values.weight);
  set(offsetof(peer::Epilogue, normed), has_norm ? &planned.norm->to : nullptr, values.to);
  epilogue.numbers.push_back(
      {offsetof(peer::Epilogue, row), sizeof(peer::Epilogue::row), values.row});
  return epilogue;
}

}  // namespace

PeerLaunch peer_launch(const bind::PlannedCollective& step,
                       const bind::PlannedCollective::Values& values,
                       const std::function<MemoryPlace(std::uint32_t buffer)>& place,
                       overlap::MemoryId shared) {
  const peer::Division division =
      peer::division_of(values.count, size_of(step.dtype), values.epilogue.row, peer::kMostBlocks);
  const auto address = [&](std::uint32_t buffer, std::uint64_t offset) {
    const MemoryPlace begin = place(buffer);
    return GivenArgument::pointer(begin.memory, begin.offset + offset);
  };
  const auto argument = [&](KernelParameter what) {
    switch (what) {
      case KernelParameter::kRanks:
        return ranks_argument(shared);
      case KernelParameter::kRank:
        return GivenArgument::scalar(static_cast<std::uint32_t>(values.rank));
      case KernelParameter::kCount:
        return GivenArgument::scalar(static_cast<std::uint32_t>(values.ranks));
      case KernelParameter::kFrom:
        return address(step.from, values.from);
      case KernelParameter::kTo:
        return address(step.to, values.to);
      case KernelParameter::kElements:
        return GivenArgument::scalar(values.count);
      case KernelParameter::kOfBlock:
        return GivenArgument::scalar(division.of_block);
      case KernelParameter::kOfRound:
        return GivenArgument::scalar(division.of_round);
      case KernelParameter::kNumber:
        return GivenArgument::scalar(std::nullopt);
      case KernelParameter::kStop:
        return GivenArgument::pointer(shared, overlap::kUnknownOffset);
      case KernelParameter::kEpilogue:
        return epilogue_argument(step.epilogue, values.epilogue, place);
    }
    throw error(ErrorCode::kInternal, "a parameter of a kernel between peers has no meaning");
  };
  PeerLaunch launch;
  launch.footprint = &footprint_of(step.dtype);
  for (const peer::KernelParameterRow& row : peer::kAllReduceParameters) {
    launch.arguments.push_back(argument(row.what));
  }
  launch.extents = {{peer::kThreads, 1, 1}, {division.blocks, 1, 1}};
  return launch;
}

}  // namespace baton::edges
