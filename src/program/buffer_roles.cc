#include "program/buffer_roles.h"

#include <array>
#include <vector>

#include "program/names.h"

namespace baton {
namespace {

constexpr std::array<RoleFacts, kRoleNames.size()> kRoles = {{
    // role, name, takes_input, needs_contents, once, is_result, is_constant, in_setup
    {BufferRole::kInput, "input", true, true, false, false, false, false},
    {BufferRole::kWeight, "weight", true, true, true, false, true, true},
    {BufferRole::kOutput, "output", false, false, false, true, false, false},
    {BufferRole::kInout, "inout", true, true, false, true, false, false},
    {BufferRole::kScratch, "scratch", false, false, false, false, false, true},
    {BufferRole::kState, "state", true, false, true, true, false, true},
    {BufferRole::kCache, "cache", true, false, true, true, false, true},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    if (static_cast<std::size_t>(kRoles[i].role) != i || kRoles[i].name != kRoleNames[i]) {
      return false;
    }
  }
  return true;
}
static_assert(rows_are_in_order());

}  // namespace

const RoleFacts& facts_of(BufferRole role) {
  return kRoles[static_cast<std::size_t>(role)];
}

bool is_kept(BufferRole role) {
  const RoleFacts& facts = facts_of(role);
  return facts.once && !facts.is_constant;
}

bool is_made_by_setup(const ProgramBuffer& buffer) {
  return facts_of(buffer.role).is_constant && buffer.init == BufferInit::kNone && !buffer.variable;
}

std::string names_of_roles(bool RoleFacts::*fact) {
  std::vector<std::string_view> names;
  for (const RoleFacts& facts : kRoles) {
    if (facts.*fact) names.push_back(facts.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace baton
