#include "sim/engine/judge/copied_reads.h"

#include <algorithm>

#include "ptx/ast.h"
#include "ptx/cfg.h"
#include "ptx/flat.h"
#include "sim/engine/lower/copied_value.h"

namespace baton::sim {
namespace {

bool is_copied(const DecodedFunction& function, const Insn* load) {
  const auto number = static_cast<std::size_t>(load - function.code.data());
  if (number >= function.sites.size()) return false;
  const ptx::FlatFunction flat(*function.source);
  const auto& list = flat.instructions();
  const auto at = std::ranges::find(list, function.sites[number].instruction,
                                    &ptx::FlatInstruction::instruction);
  if (at == list.end() || at->instruction->opcode != "ld") return false;
  return is_only_copied(flat, ptx::ControlFlow(flat),
                        static_cast<std::uint32_t>(at - list.begin()));
}

}  // namespace

bool CopiedReads::has(const DecodedKernel& kernel, const DecodedFunction& function,
                      const Insn* load) {
  if (std::ranges::count(kernel.ptx->targets(), "debug") == 0) return false;
  std::lock_guard lock(mutex_);
  const auto [at, is_new] = known_.try_emplace(load);
  if (is_new) at->second = is_copied(function, load);
  return at->second;
}

}  // namespace baton::sim
