#include "pdl/code/instruction.h"

#include <charconv>
#include <string_view>
#include <unordered_map>

namespace baton::overlap {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::InstructionOperand;
using Kind = Operation::Kind;
using Space = Operation::Space;

std::uint8_t width_of(const Instruction& i) {
  for (std::size_t k = i.modifiers.size(); k-- > 0;) {
    const std::string_view name = i.modifiers[k];
    if (name == "pred") return 1;
    if (name.size() < 2 || std::string_view("busfe").find(name[0]) == std::string_view::npos) {
      continue;
    }
    unsigned bits = 0;
    const auto [stop, status] = std::from_chars(name.data() + 1, name.data() + name.size(), bits);
    if (status == std::errc() && stop == name.data() + name.size() && bits <= 128) {
      return static_cast<std::uint8_t>(bits);
    }
  }
  return 0;
}

std::optional<Space> named_space(std::string_view modifier) {
  if (modifier == "global") return Space::kGlobal;
  if (modifier.starts_with("shared")) return Space::kShared;
  if (modifier == "local") return Space::kLocal;
  if (modifier.starts_with("param")) return Space::kParam;
  if (modifier == "const") return Space::kConst;
  return std::nullopt;
}

// The space of the address operand that `number` others come before. Copies name two.
Space space_of(const Instruction& i, const Form& form, std::size_t number) {
  if (form.place == Form::Place::kShared) return Space::kShared;
  // Like shared memory it belongs to the block.
  if (form.place == Form::Place::kTensorMemory) return Space::kShared;
  std::optional<Space> found;
  for (std::string_view modifier : i.modifiers) {
    const std::optional<Space> named = named_space(modifier);
    if (!named) continue;
    found = named;
    if (number-- == 0) break;
  }
  const bool is_own = found == Space::kShared;
  if (form.place == Form::Place::kMap && !is_own) return Space::kTensorMap;
  return found.value_or(Space::kGeneric);
}

// The address operand that `number` others come before, or -1.
int address_of(const Instruction& i, std::size_t number) {
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    if (i.operands[k].kind == InstructionOperand::Kind::kAddress && number-- == 0)
      return static_cast<int>(k);
  }
  return -1;
}

// Strong operations (PTX ISA, "Memory Consistency Model") whose scope holds threads of other grids.
// Copies are weak, also where they release what they wrote (tensormap.cp_fenceproxy).
bool is_strong(const Instruction& i, const Form& form) {
  if (form.access == Form::Access::kCopy) return false;
  if (i.has("cta") || i.has("cluster")) return false;
  if (form.kind == Form::Kind::kAtomic) return true;
  for (const char* order : {"volatile", "relaxed", "acquire", "release", "mmio"}) {
    if (i.has(order)) return true;
  }
  return false;
}

// Polling a flag orders what follows, with a fence or without.
bool orders(const Instruction& i, Form::Access access) {
  if (i.has("acquire") || i.has("acq_rel")) return true;
  return access == Form::Access::kRead && (i.has("volatile") || i.has("relaxed"));
}

void access(const Instruction& i, const Form& form, Form::Access what, std::size_t number,
            Shape& shape) {
  shape.kind = what == Form::Access::kWrite    ? Kind::kStore
               : what == Form::Access::kUpdate ? Kind::kAtomic
                                               : Kind::kLoad;
  shape.space = space_of(i, form, number);
  shape.address = address_of(i, number);
  shape.strong = is_strong(i, form);
  shape.orders = orders(i, what);
  shape.prefetches = what == Form::Access::kPrefetch;
  shape.non_coherent = shape.kind == Kind::kLoad && form.proxy == Form::Proxy::kNonCoherent;
}

// A copy counts for its side outside the block, where there is one.
void copy(const Instruction& i, const Form& form, Shape& shape) {
  const bool from_own = space_of(i, form, 1) == Space::kShared;
  const bool to_own = space_of(i, form, 0) == Space::kShared;
  if (from_own && to_own) return;
  const bool reduces = form.access == Form::Access::kReduce;
  if (to_own) {
    access(i, form, Form::Access::kRead, 1, shape);
  } else {
    access(i, form, reduces ? Form::Access::kUpdate : Form::Access::kWrite, 0, shape);
  }
  // Two sides outside the block are more than one access can say.
  if (!to_own && !from_own) {
    shape.kind = Kind::kAtomic;
    shape.address = -1;
  }
}

void accesses(const Instruction& i, const Form& form, Shape& shape) {
  switch (form.access) {
    case Form::Access::kNone:
      return;
    case Form::Access::kCopy:
    case Form::Access::kReduce:
      return copy(i, form, shape);
    case Form::Access::kRead:
    case Form::Access::kWrite:
    case Form::Access::kUpdate:
    case Form::Access::kPrefetch:
      return access(i, form, form.access, 0, shape);
  }
}

bool is_constant(const InstructionOperand& operand, std::uint64_t bits) {
  return operand.kind == InstructionOperand::Kind::kInteger && operand.bits == bits;
}

Exchange exchange(const Form& form) {
  if (form.opcode == "shfl") return Exchange::kShuffled;
  const bool tells = form.opcode == "vote" || form.opcode == "match" || form.opcode == "redux" ||
                     (form.kind == Form::Kind::kBlockBarrier && form.destinations != 0);
  return tells ? Exchange::kTold : Exchange::kNone;
}

// bar{.red} [result,] barrier {, threads} {, predicate}
void barrier(const Instruction& i, const Form& form, Shape& shape) {
  const bool arrives = form.kind == Form::Kind::kBlockArrival;
  shape.orders = !arrives;
  const std::size_t id = form.destinations;
  if (i.operands.size() <= id) return;
  const bool of_all = i.operands.size() == (form.destinations != 0 ? 3 : 1);
  if (is_constant(i.operands[id], 0) && of_all && !arrives) {
    shape.kind = Kind::kBarrier;
  } else if (i.operands[id].kind != InstructionOperand::Kind::kInteger ||
             is_constant(i.operands[id], 0)) {
    shape.disturbs = true;
  }
}

Shape known(const Instruction& i, const Form& form) {
  Shape shape;
  shape.kind = form.destinations != 0 ? Kind::kCompute : Kind::kNothing;
  shape.defines = form.destinations != 0;
  shape.width = width_of(i);
  shape.exchange = exchange(form);
  switch (form.kind) {
    case Form::Kind::kPure:
    case Form::Kind::kCarry:
    case Form::Kind::kLanes:
      shape.meets = form.kind == Form::Kind::kLanes;
      if (i.has("wide")) shape.width = static_cast<std::uint8_t>(shape.width * 2);
      return shape;
    case Form::Kind::kAccess:
    case Form::Kind::kAtomic:
      accesses(i, form, shape);
      return shape;
    case Form::Kind::kHint:
    case Form::Kind::kStack:
    case Form::Kind::kAsyncGroup:
    case Form::Kind::kMbarrier:
    case Form::Kind::kClusterArrival:
    case Form::Kind::kCall:  // code.cc reads it
      return shape;
    case Form::Kind::kFence:
      accesses(i, form, shape);
      shape.orders = true;
      return shape;
    case Form::Kind::kMbarrierWait:
    case Form::Kind::kWarpBarrier:
    case Form::Kind::kClusterBarrier:
      shape.orders = true;
      return shape;
    case Form::Kind::kBlockBarrier:
    case Form::Kind::kBlockArrival:
      barrier(i, form, shape);
      return shape;
    case Form::Kind::kGridWait:
      shape.kind = Kind::kWait;
      return shape;
    case Form::Kind::kGridTrigger:
      shape.kind = Kind::kTrigger;
      return shape;
    case Form::Kind::kBranch:
      shape.kind = Kind::kBranch;
      return shape;
    case Form::Kind::kReturn:
    case Form::Kind::kExit:
      shape.kind = Kind::kEnd;
      return shape;
    case Form::Kind::kTrap:
      shape.kind = Kind::kTrap;
      return shape;
  }
  return shape;
}

Shape unknown(const Instruction& i) {
  Shape shape;
  shape.width = width_of(i);
  shape.orders = true;
  const int address = address_of(i, 0);
  if (address < 0) return shape;
  shape.kind = Kind::kAtomic;
  for (std::string_view modifier : i.modifiers) {
    if (const auto named = named_space(modifier); named && shape.space == Space::kGeneric) {
      shape.space = *named;
    }
  }
  shape.address = address;
  shape.defines = address != 0;
  return shape;
}

}  // namespace

Shape shape_of(const Instruction& instruction, const Form* form) {
  return form == nullptr ? unknown(instruction) : known(instruction, *form);
}

bool reads_carry(const ptx::Instruction& instruction) {
  const std::string_view name = instruction.opcode;
  return name == "addc" || name == "subc" || name == "madc";
}

bool writes_carry(const ptx::Instruction& instruction) {
  return instruction.has("cc");
}

std::optional<SpecialRegister> special_register(std::string_view name) {
  static const std::unordered_map<std::string_view, SpecialRegister> kNames = {
      {"%tid.x", SpecialRegister::kTidX},       {"%tid.y", SpecialRegister::kTidY},
      {"%tid.z", SpecialRegister::kTidZ},       {"%ntid.x", SpecialRegister::kNtidX},
      {"%ntid.y", SpecialRegister::kNtidY},     {"%ntid.z", SpecialRegister::kNtidZ},
      {"%ctaid.x", SpecialRegister::kCtaidX},   {"%ctaid.y", SpecialRegister::kCtaidY},
      {"%ctaid.z", SpecialRegister::kCtaidZ},   {"%nctaid.x", SpecialRegister::kNctaidX},
      {"%nctaid.y", SpecialRegister::kNctaidY}, {"%nctaid.z", SpecialRegister::kNctaidZ},
      {"%laneid", SpecialRegister::kLaneId},    {"%warpid", SpecialRegister::kWarpId},
  };
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace baton::overlap
