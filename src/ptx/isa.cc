#include "ptx/isa.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "ptx/operand_use.h"

namespace baton::ptx {
namespace {

using Kind = Form::Kind;
using Access = Form::Access;
using Place = Form::Place;
using Proxy = Form::Proxy;

constexpr std::string_view kNotSimulated = "not_simulated";

struct LeastTarget {
  int architecture;
  bool is_specific;
  constexpr LeastTarget(int sm, bool needs_specific = false)  // NOLINT: a plain number is a target
      : architecture(sm), is_specific(needs_specific) {}
};
constexpr int kAll = 0;
constexpr LeastTarget specific(int sm) {
  return {sm, true};
}

Form make(std::string_view name, std::size_t destinations, Kind kind, Access access, Place place,
          Proxy proxy, int ptx_version, LeastTarget target, std::string_view family) {
  Form form;
  form.name = name;
  form.opcode = name.substr(0, name.find('.'));
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = name.find('.', dot + 1);
    form.modifiers.push_back(name.substr(dot + 1, next - dot - 1));
    dot = next;
  }
  form.destinations = destinations;
  form.kind = kind;
  form.access = access;
  form.place = place;
  form.proxy = proxy;
  form.ptx_version = ptx_version;
  form.architecture = target.architecture;
  form.is_specific = target.is_specific;
  form.family = family;
  return form;
}

struct FormTable {
  std::vector<Form> forms;
  // Rows [first, last) of an opcode.
  std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> of_opcode;

  FormTable() {
#define BATON_PTX_FORM(form, destinations, kind, access, place, proxy, ptx, sm, family)            \
  forms.push_back(make(form, destinations, Kind::kind, Access::access, Place::place, Proxy::proxy, \
                       ptx, sm, #family));
#include "ptx/isa.inc"
    for (std::size_t i = 0; i < forms.size(); ++i) forms[i].index = i;
    // The rows of one opcode follow each other in the order of the table.
    for (std::size_t i = 0; i < forms.size(); ++i) {
      const auto [rows, is_new] = of_opcode.try_emplace(forms[i].opcode, i, i + 1);
      if (!is_new) rows->second.second = i + 1;
    }
  }
};

const FormTable& table() {
  static const FormTable kTable;
  return kTable;
}

bool fits(const Form& form, const Instruction& instruction) {
  return form.opcode == instruction.opcode &&
         std::all_of(form.modifiers.begin(), form.modifiers.end(),
                     [&](std::string_view modifier) { return instruction.has(modifier); });
}

}  // namespace

bool Form::is_simulated() const {
  return family != kNotSimulated;
}

std::span<const Form> forms() {
  return table().forms;
}

const Form* form_of(const Instruction& instruction) {
  const auto found = table().of_opcode.find(instruction.opcode);
  if (found == table().of_opcode.end()) return nullptr;
  for (std::size_t i = found->second.first; i < found->second.second; ++i) {
    const Form& form = table().forms[i];
    if (fits(form, instruction)) return &form;
  }
  return nullptr;
}

bool writes_operand(const Instruction& instruction, std::size_t operand) {
  if (operand >= instruction.operands.size()) return false;
  const InstructionOperand::Kind what = instruction.operands[operand].kind;
  if (what == InstructionOperand::Kind::kAddress) return false;
  const Form* form = form_of(instruction);
  if (form == nullptr) return operand == 0;
  if (form->kind == Kind::kCall) {
    // call (results), name, …: a single group before the name.
    return operand == 0 && what == InstructionOperand::Kind::kGroup &&
           instruction.operands.size() > 1;
  }
  return operand < form->destinations;
}

bool updates_operand(const Instruction& instruction, std::size_t operand) {
  static constexpr std::string_view kUpdated[] = {
#define BATON_PTX_UPDATED(form) form,
#include "ptx/isa.inc"
  };
  const Form* form = form_of(instruction);
  return form != nullptr && operand < form->destinations &&
         std::find(std::begin(kUpdated), std::end(kUpdated), form->name) != std::end(kUpdated);
}

bool is_volatile(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"%clock",  "%globaltimer", "%pm",
                                            "%warpid", "%nwarpid",     "%smid"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace baton::ptx
