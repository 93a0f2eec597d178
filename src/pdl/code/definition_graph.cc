#include "pdl/code/definition_graph.h"

#include "ptx/dominators.h"
#include "ptx/traversal.h"

namespace baton::overlap {

DefinitionGraph::DefinitionGraph(const Code& code)
    : definitions_(code.registers),
      entered_(code.operations.size()),
      left_(code.operations.size()) {
  const auto count = static_cast<std::uint32_t>(code.operations.size());
  ptx::Edges edges(count), children(count);
  for (std::uint32_t at = 0; at < count; ++at) {
    edges[at] = code.operations[at].next;
    for (const std::uint32_t id : code.operations[at].defines) {
      if (id < code.registers) definitions_[id].push_back(at);
    }
  }
  const std::vector<std::uint32_t> immediate = ptx::immediate_dominators(edges, 0);
  for (std::uint32_t at = 0; at < count; ++at) {
    if (immediate[at] != ptx::kNoNode) children[immediate[at]].push_back(at);
  }
  std::uint32_t number = 0;
  ptx::walk_depth_first(
      0, [&](std::uint32_t at) -> const std::vector<std::uint32_t>& { return children[at]; },
      [&](std::uint32_t at, std::uint32_t) {
        entered_[at] = ++number;
        return true;
      },
      [&](std::uint32_t at) { left_[at] = ++number; });
}

}  // namespace baton::overlap
