#include "pdl/instruction.h"

#include <charconv>
#include <string_view>
#include <unordered_map>

namespace baton::overlap {
namespace {

using ptx::Instruction;
using ptx::Operand;
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

bool is_shared(std::string_view modifier) {
  return modifier.starts_with("shared");
}

Space space_of(const Instruction& i) {
  for (std::string_view modifier : i.modifiers) {
    if (modifier == "global") return Space::kGlobal;
    if (is_shared(modifier)) return Space::kShared;
    if (modifier == "local") return Space::kLocal;
    if (modifier.starts_with("param")) return Space::kParam;
    if (modifier == "const") return Space::kConst;
  }
  return Space::kGeneric;
}

// Whether the global side of a bulk copy is its destination: the first space that is named.
bool writes_global(const Instruction& i) {
  for (std::string_view modifier : i.modifiers) {
    if (is_shared(modifier)) return false;
    if (modifier == "global") return true;
  }
  return false;
}

Shape nothing(bool orders = false) {
  Shape shape;
  shape.kind = Kind::kNothing;
  shape.defines = false;
  shape.orders = orders;
  return shape;
}

Shape access(const Instruction& i, Kind kind, int address, bool defines) {
  Shape shape;
  shape.kind = kind;
  shape.space = space_of(i);
  shape.address = address;
  shape.defines = defines;
  shape.width = width_of(i);
  return shape;
}

// Strong operations (PTX ISA, "Memory Consistency Model") whose scope holds threads of other grids.
bool is_strong(const Instruction& i) {
  if (i.has("cta") || i.has("cluster")) return false;
  for (const char* order : {"volatile", "relaxed", "acquire", "release", "mmio"}) {
    if (i.has(order)) return true;
  }
  return false;
}

Shape load(const Instruction& i) {
  Shape shape = access(i, Kind::kLoad, 1, true);
  shape.strong = is_strong(i);
  shape.non_coherent = i.has("nc") || i.opcode == "ldu";
  // Polling a flag orders what follows, with a fence or without.
  shape.orders = i.has("acquire") || i.has("volatile") || i.has("relaxed");
  return shape;
}

Shape store(const Instruction& i) {
  Shape shape = access(i, Kind::kStore, 0, false);
  shape.strong = is_strong(i);
  return shape;
}

Shape atomic(const Instruction& i) {
  Shape shape = access(i, Kind::kAtomic, 1, true);
  shape.strong = !i.has("cta") && !i.has("cluster");
  shape.orders = i.has("acquire") || i.has("acq_rel");
  return shape;
}

Shape reduction(const Instruction& i) {
  Shape shape = access(i, Kind::kAtomic, 0, false);
  shape.strong = !i.has("cta") && !i.has("cluster");
  shape.orders = i.has("acquire") || i.has("acq_rel");
  return shape;
}

// prefetch.global.L2 takes no value; what comes into L1 may be looked at again.
Shape prefetch(const Instruction& i) {
  if (i.has("L2") || i.has("tensormap")) return nothing();
  Shape shape = access(i, Kind::kLoad, 0, false);
  shape.prefetches = true;
  return shape;
}

Shape destroy(const Instruction& i) {
  return access(i, Kind::kStore, 0, false);
}

Shape depend(const Instruction& i) {
  Shape shape = nothing();
  if (i.has("wait")) shape.kind = Kind::kWait;
  if (i.has("launch_dependents")) shape.kind = Kind::kTrigger;
  return shape;
}

bool is_constant(const Operand& operand, std::uint64_t bits) {
  return operand.kind == Operand::Kind::kInteger && operand.bits == bits;
}

Shape barrier(const Instruction& i) {
  Shape shape = nothing(!i.has("arrive"));
  if (i.has("warp") || i.has("cluster")) return shape;
  const bool reduces = i.has("red");
  shape.defines = reduces;
  const std::size_t id = reduces ? 1 : 0;
  if (i.operands.size() <= id) return shape;
  const bool of_all = i.operands.size() == (reduces ? 3 : 1);
  if (is_constant(i.operands[id], 0) && of_all && !i.has("arrive")) {
    shape.kind = Kind::kBarrier;
  } else if (i.operands[id].kind != Operand::Kind::kInteger || is_constant(i.operands[id], 0)) {
    shape.disturbs = true;
  }
  return shape;
}

Shape copy(const Instruction& i, Kind to_global) {
  const bool tensor = i.has("tensor");
  if (i.has("prefetch")) return nothing();
  if (i.has("mbarrier") || i.has("commit_group") || i.has("wait_group") || i.has("wait_all")) {
    return nothing();
  }
  // From one block's shared memory to another's.
  if (!i.has("global")) return nothing();
  const bool writes = writes_global(i);
  // [to], [from], …: the global side; a tensor map stands in its place.
  Shape shape = access(i, writes ? to_global : Kind::kLoad, writes ? 0 : 1, false);
  shape.space = tensor ? Space::kTensorMap : Space::kGlobal;
  return shape;
}

Shape async_copy(const Instruction& i) {
  if (i.has("reduce")) return copy(i, Kind::kAtomic);
  return copy(i, Kind::kStore);
}

Shape matrix(const Instruction& i) {
  if (i.has("load")) return access(i, Kind::kLoad, 1, true);
  if (i.has("store")) return access(i, Kind::kStore, 0, false);
  return {};
}

Shape multimem(const Instruction& i) {
  if (i.has("ld_reduce")) return access(i, Kind::kLoad, 1, true);
  return access(i, Kind::kAtomic, 0, false);
}

// Textures and surfaces: the memory behind a handle.
Shape texture(const Instruction& i) {
  Shape shape = access(i, Kind::kLoad, 1, true);
  shape.space = Space::kTensorMap;
  shape.non_coherent = true;
  return shape;
}
Shape surface(const Instruction& i) {
  Shape shape = access(i, Kind::kAtomic, 0, false);
  shape.space = Space::kTensorMap;
  return shape;
}

Shape tensor_map(const Instruction& i) {
  return access(i, Kind::kStore, 0, false);
}

Shape branch(const Instruction&) {
  Shape shape = nothing();
  shape.kind = Kind::kBranch;
  return shape;
}
Shape end(const Instruction&) {
  Shape shape = nothing();
  shape.kind = Kind::kEnd;
  return shape;
}
Shape trap(const Instruction&) {
  Shape shape = nothing();
  shape.kind = Kind::kTrap;
  return shape;
}
Shape fence(const Instruction&) {
  return nothing(true);
}
Shape mbarrier(const Instruction& i) {
  Shape shape = nothing(i.has("test_wait") || i.has("try_wait"));
  shape.defines = !i.operands.empty() && i.operands[0].kind == Operand::Kind::kIdentifier;
  if (shape.defines) shape.kind = Kind::kCompute;
  return shape;
}
Shape harmless(const Instruction&) {
  return nothing();
}
Shape computes(const Instruction& i) {
  Shape shape;
  shape.width = width_of(i);
  if (i.has("wide")) shape.width = static_cast<std::uint8_t>(shape.width * 2);
  return shape;
}

Shape unknown(const Instruction& i) {
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    if (i.operands[k].kind != Operand::Kind::kAddress) continue;
    Shape shape = access(i, Kind::kAtomic, static_cast<int>(k), k != 0);
    shape.orders = true;
    return shape;
  }
  return computes(i);
}

using Table = std::unordered_map<std::string_view, Shape (*)(const Instruction&)>;

const Table& table() {
  static const Table kTable = {
      {"ld", load},
      {"ldu", load},
      {"st", store},
      {"atom", atomic},
      {"red", reduction},
      {"prefetch", prefetch},
      {"prefetchu", prefetch},
      {"discard", destroy},
      {"griddepcontrol", depend},
      {"bar", barrier},
      {"barrier", barrier},
      {"membar", fence},
      {"fence", fence},
      {"mbarrier", mbarrier},
      {"cp", async_copy},
      {"wmma", matrix},
      {"multimem", multimem},
      {"tex", texture},
      {"tld4", texture},
      {"suld", texture},
      {"sust", surface},
      {"sured", surface},
      {"tensormap", tensor_map},
      {"bra", branch},
      {"brx", branch},
      {"ret", end},
      {"exit", end},
      {"trap", trap},
      {"call", harmless},  // code.cc reads it
      {"applypriority", harmless},
      {"createpolicy", computes},
      {"nanosleep", harmless},
      {"pmevent", harmless},
      {"brkpt", harmless},
      {"setmaxnreg", harmless},
      {"stmatrix", harmless},
      {"ldmatrix", computes},
      {"wgmma", computes},
      {"tcgen05", computes},
      {"clusterlaunchcontrol", computes},
      {"txq", computes},
      {"suq", computes},
  };
  return kTable;
}

}  // namespace

Shape shape_of(const Instruction& instruction) {
  const auto found = table().find(instruction.opcode);
  Shape shape = found == table().end() ? unknown(instruction) : found->second(instruction);
  const bool is_access =
      shape.kind == Kind::kLoad || shape.kind == Kind::kStore || shape.kind == Kind::kAtomic;
  // What is written wrongly touches no memory that anyone could name.
  if (is_access && static_cast<std::size_t>(shape.address) >= instruction.operands.size()) {
    shape.address = -1;
  }
  return shape;
}

std::optional<Special> special_register(std::string_view name) {
  static const std::unordered_map<std::string_view, Special> kNames = {
      {"%tid.x", Special::kTidX},       {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},       {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},     {"%ntid.z", Special::kNtidZ},
      {"%ctaid.x", Special::kCtaidX},   {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},   {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY}, {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneId},    {"%warpid", Special::kWarpId},
  };
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace baton::overlap
