#include "ptx/inlining.h"

#include <cstddef>
#include <utility>
#include <variant>

namespace baton::ptx {
namespace {

// The last one with a body that begins before the place.
const Function* function_at(const ParsedModule& module, const Position& at) {
  const Function* found = nullptr;
  for (const TopLevel& item : module.items()) {
    const auto* function = std::get_if<Function>(&item);
    if (function == nullptr || !function->has_body) continue;
    if (std::pair(function->position.line, function->position.column) <
        std::pair(at.line, at.column)) {
      found = function;
    }
  }
  return found;
}

// Those before `last` in the text.
std::vector<const Loc*> locs_before(const Block& body, const Loc& last) {
  struct Open {
    const Block* block;
    std::size_t next;
  };
  std::vector<const Loc*> found;
  std::vector<Open> open = {{&body, 0}};
  while (!open.empty()) {
    if (open.back().next == open.back().block->statements.size()) {
      open.pop_back();
      continue;
    }
    const auto& node = open.back().block->statements[open.back().next++].node;
    if (const auto* block = std::get_if<Block>(&node)) {
      open.push_back({block, 0});
    } else if (const auto* loc = std::get_if<Loc>(&node)) {
      if (loc == &last) break;
      found.push_back(loc);
    }
  }
  return found;
}

bool is_at(const Loc& loc, const Loc::Inlined& place) {
  return loc.file == place.file && loc.line == place.line && loc.column == place.column;
}

}  // namespace

std::vector<Loc::Inlined> inlined_places(const ParsedModule& module, const Loc& loc) {
  if (!loc.inlined) return {};
  std::vector<Loc::Inlined> places = {*loc.inlined};
  const Function* const function = function_at(module, loc.position);
  if (function == nullptr) return places;
  const std::vector<const Loc*> before = locs_before(function->body(), loc);
  for (auto at = before.rbegin(); at != before.rend(); ++at) {
    if (!is_at(**at, places.back())) continue;
    if (!(*at)->inlined) break;
    places.push_back(*(*at)->inlined);
  }
  return places;
}

}  // namespace baton::ptx
