// Textures and surfaces, named by objects: tex, tld4, suld.b, sust.b, sured.b, txq and suq.

#include <fmt/core.h>

#include <utility>

#include "sim/engine/isa/reduce.h"
#include "sim/engine/lower/lower.h"
#include "sim/engine/texture/texture_ops.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// The geometry: .1d, .2d and .3d, .a1d and .a2d with layers, .cube and .acube. Those with samples
// are not there.
struct Geometry {
  unsigned dimensions = 1;  // of a face for cubes
  bool has_layer = false;
  bool is_cube = false;
};
Geometry take_geometry(Modifiers& m) {
  constexpr std::pair<std::string_view, Geometry> kGeometries[] = {{"1d", {1}},
                                                                   {"2d", {2}},
                                                                   {"3d", {3}},
                                                                   {"a1d", {1, true}},
                                                                   {"a2d", {2, true}},
                                                                   {"cube", {2, false, true}},
                                                                   {"acube", {2, true, true}}};
  for (const auto& [name, geometry] : kGeometries) {
    if (m.take(name)) return geometry;
  }
  for (const std::string_view other : {"2dms", "a2dms"}) {
    if (m.take(other)) {
      throw Unsupported{
          fmt::format("textures of geometry .{}: the simulated GPU has none with samples", other)};
    }
  }
  throw Unsupported{"its geometry is not known"};
}

}  // namespace

// The handle's register of [handle] or [handle, {coordinates}].
SlotId Lowering::texture_handle(const ptx::InstructionOperand& place, std::size_t parts) {
  if (place.kind == Kind::kAddress && place.children.size() == 3) {
    throw Unsupported{"a sampler apart from its texture (.texmode_independent)"};
  }
  if (place.kind != Kind::kAddress || place.children.size() != parts) {
    invalid(parts == 1 ? "it takes an object in brackets"
                       : "it takes an object and coordinates, as in [object, {x}]");
  }
  const ptx::InstructionOperand& handle = place.children[0];
  const auto reg = flat_.variable(at_->scope, handle.text);
  if (handle.kind != Kind::kIdentifier || !reg || reg->variable->space != ptx::StateSpace::kReg) {
    throw Unsupported{
        "texture and surface references: use an object (cuTexObjectCreate, "
        "cuSurfObjectCreate)"};
  }
  return source(handle, Type::kB64);
}

// `dimensions` of them, then the layer, which PTX writes first. Where that makes three, PTX writes
// a fourth, which means nothing.
std::vector<SlotId> Lowering::texture_coordinates(const ptx::InstructionOperand& written,
                                                  unsigned dimensions, bool has_layer, Type type) {
  std::vector<SlotId> slots;
  const unsigned count = dimensions + (has_layer ? 1 : 0);
  if (written.kind != Kind::kVector) {
    if (count != 1) invalid(fmt::format("it takes {} coordinates in braces", count));
    slots.push_back(source(written, type));
    return slots;
  }
  const std::size_t found = written.children.size();
  if (found != count && !(count == 3 && found == 4)) {
    invalid(fmt::format("it takes {} coordinates in braces, {} are there", count, found));
  }
  const std::size_t first = has_layer ? 1 : 0;
  for (unsigned d = 0; d < dimensions; ++d) {
    slots.push_back(source(written.children[first + d], type));
  }
  if (has_layer) slots.push_back(source(written.children[0], Type::kU32));
  return slots;
}

// tex{.base,.level,.grad}.geometry.v4.type.coordinates {d}, [a, {c}]{, level or gradients}
// tld4.component.geometry.v4.type.f32 {d}, [a, {c}]
void Lowering::texture() {
  Modifiers m(*insn_);
  TextureAccess access;
  access.gathers = insn_->opcode == "tld4";
  if (!access.gathers) {
    const auto choice = m.take_one_of({"base", "level", "grad"});
    access.level = static_cast<LevelChoice>(choice.value_or(0));
  } else {
    const auto component = m.take_one_of({"r", "g", "b", "a"});
    if (!component) throw Unsupported{"its component is not known"};
    access.component = static_cast<unsigned>(*component);
  }
  const Geometry geometry = take_geometry(m);
  access.dimensions = geometry.dimensions;
  access.has_layer = geometry.has_layer;
  access.is_cube = geometry.is_cube;
  if (access.gathers && access.dimensions != 2) {
    throw Unsupported{"it gathers of .2d, .a2d, .cube and .acube alone"};
  }
  if (!m.take("v4")) throw Unsupported{"it does not give four values (.v4)"};
  // The result's type, then the coordinates'.
  const Type result = m.need_type();
  const Type coordinate = m.need_type();
  m.finish();
  const bool is_word = result == Type::kF32 || result == Type::kS32 || result == Type::kU32;
  if (!is_word || (coordinate != Type::kF32 && coordinate != Type::kS32)) {
    throw Unsupported{
        "its types: the simulated GPU gives .f32, .s32 or .u32 for coordinates of "
        ".f32 or .s32"};
  }
  access.by_index = coordinate == Type::kS32;
  const bool has_gradients = access.level == LevelChoice::kGradients;
  if (access.by_index && (access.gathers || has_gradients || access.is_cube)) {
    throw Unsupported{"it takes coordinates of .f32"};
  }
  if (has_gradients && access.is_cube) throw Unsupported{"gradients of a cube's coordinates"};
  const std::size_t count = 2 + static_cast<std::size_t>(access.level);
  if (insn_->operands.size() > count) throw Unsupported{"offsets and depths to compare with"};
  need_operands(count, count);
  const ptx::InstructionOperand& values = operand(0);
  if (values.kind != Kind::kVector || values.children.size() != 4) {
    throw Unsupported{"it does not write four registers in braces"};
  }
  const SlotId handle = texture_handle(operand(1), 2);
  std::vector<SlotId> coordinates = texture_coordinates(
      operand(1).children[1], access.coordinates(), access.has_layer, coordinate);
  if (access.level == LevelChoice::kGiven) coordinates.push_back(source(operand(2), coordinate));
  for (std::size_t k = 2; has_gradients && k < count; ++k) {
    for (SlotId one : texture_coordinates(operand(k), access.dimensions, false, coordinate)) {
      coordinates.push_back(one);
    }
  }
  SlotId to[4];
  for (std::size_t k = 0; k < 4; ++k) to[k] = target(values.children[k], 32);
  Proto& proto = emit(op_texture);
  for (int k = 0; k < 4; ++k) def(proto, k, to[k]);
  use(proto, 4, handle);
  proto.cache = next_region();
  proto.has_list = proto.list_has_head = true;
  proto.list_head = access.pack();
  proto.list = std::move(coordinates);
}

// suld.b.geometry{.vector}.type{.mode} d, [a, {c}] and sust.b.geometry{.vector}.type{.mode}
// [a, {c}], d
void Lowering::surface() {
  Modifiers m(*insn_);
  const bool stores = insn_->opcode == "sust";
  if (m.take("p")) throw Unsupported{"formatted accesses of surfaces (.p)"};
  if (!m.take("b")) throw Unsupported{"it is neither .b nor .p"};
  SurfaceAccess access;
  const Geometry geometry = take_geometry(m);
  if (geometry.is_cube) throw Unsupported{"cubes: the faces of a surface are its layers"};
  access.dimensions = geometry.dimensions;
  access.has_layer = geometry.has_layer;
  m.take_one_of({"ca", "cg", "cs", "cv", "wb", "wt"});
  const auto vector = m.take_one_of({"v2", "v4"});
  access.elements = vector ? 2u << *vector : 1;
  const auto mode = m.take_one_of({"trap", "clamp", "zero"});
  access.mode = static_cast<SurfaceMode>(mode.value_or(0));
  const Type type = m.need_type();
  m.finish();
  access.bytes = bits_of(type) / 8;
  if (access.bytes == 0 || access.bytes > 8) throw Unsupported{"elements of that type"};
  need_operands(2, 2);
  const ptx::InstructionOperand& values = operand(stores ? 1 : 0);
  const bool is_braced = values.kind == Kind::kVector;
  if (is_braced ? values.children.size() != access.elements : access.elements != 1) {
    invalid(fmt::format("it moves {} elements, the operand has another number", access.elements));
  }
  const ptx::InstructionOperand& place = operand(stores ? 0 : 1);
  const SlotId handle = texture_handle(place, 2);
  std::vector<SlotId> coordinates =
      texture_coordinates(place.children[1], access.dimensions, access.has_layer, Type::kS32);
  SlotId slots[4] = {kSink, kSink, kSink, kSink};
  access.slot = width_for(bits_of(type));
  for (unsigned k = 0; k < access.elements; ++k) {
    const ptx::InstructionOperand& one = is_braced ? values.children[k] : values;
    slots[k] = stores ? source(one, type, true) : target(one, bits_of(type), true);
    if (slots[k] != kSink && builder_.width(slots[k]) != access.slot) {
      throw Unsupported{"registers that are wider than the elements"};
    }
  }
  Proto& proto = emit(stores ? op_surface_store : op_surface_load);
  for (int k = 0; k < 4; ++k) {
    if (stores) {
      use(proto, k, slots[k]);
    } else {
      def(proto, k, slots[k]);
    }
  }
  use(proto, 4, handle);
  proto.cache = next_region();
  proto.has_list = proto.list_has_head = true;
  proto.list_head = access.pack();
  proto.list = std::move(coordinates);
}

// sured.b.op.geometry.type{.mode} [a, {c}], b
void Lowering::surface_reduction() {
  Modifiers m(*insn_);
  if (m.take("p")) throw Unsupported{"formatted accesses of surfaces (.p)"};
  if (!m.take("b")) throw Unsupported{"it is neither .b nor .p"};
  constexpr AtomOp kOps[] = {AtomOp::kAdd, AtomOp::kMin, AtomOp::kMax, AtomOp::kAnd, AtomOp::kOr};
  const auto op = m.take_one_of({"add", "min", "max", "and", "or"});
  if (!op) throw Unsupported{"its operation is not known"};
  SurfaceAccess access;
  const Geometry geometry = take_geometry(m);
  if (geometry.is_cube) throw Unsupported{"cubes: the faces of a surface are its layers"};
  access.dimensions = geometry.dimensions;
  access.has_layer = geometry.has_layer;
  const auto mode = m.take_one_of({"trap", "clamp", "zero"});
  access.mode = static_cast<SurfaceMode>(mode.value_or(0));
  const Type type = m.need_type();
  m.finish();
  if (!find_reduction(kOps[*op], type)) {
    throw Unsupported{"the simulated GPU does not have this combination of operation and type"};
  }
  access.bytes = access.slot = bits_of(type) / 8;
  need_operands(2, 2);
  const ptx::InstructionOperand& place = operand(0);
  const SlotId handle = texture_handle(place, 2);
  std::vector<SlotId> coordinates =
      texture_coordinates(place.children[1], access.dimensions, access.has_layer, Type::kS32);
  const ptx::InstructionOperand& written = operand(1);
  const bool is_braced = written.kind == Kind::kVector && written.children.size() == 1;
  const SlotId value = source(is_braced ? written.children[0] : written, type);
  Proto& proto = emit(op_surface_reduce);
  use(proto, 0, value);
  use(proto, 4, handle);
  proto.mode = static_cast<std::uint8_t>(kOps[*op]);
  proto.imm = static_cast<std::int64_t>(type);
  proto.cache = next_region();
  proto.has_list = proto.list_has_head = true;
  proto.list_head = access.pack();
  proto.list = std::move(coordinates);
}

// txq.what.b32 d, [a] and suq.what.b32 d, [a]
void Lowering::texture_query() {
  Modifiers m(*insn_);
  const bool of_surface = insn_->opcode == "suq";
  auto what = m.take_one_of({"width", "height", "depth", "array_size", "num_mipmap_levels"});
  if (of_surface && what == static_cast<std::size_t>(TextureQuery::kLevels)) what.reset();
  if (!what) {
    throw Unsupported{
        "it asks for none of .width, .height, .depth, .array_size and, of a texture, "
        ".num_mipmap_levels"};
  }
  if (m.need_type() != Type::kB32) throw Unsupported{"the answer is .b32"};
  m.finish();
  need_operands(2, 2);
  const SlotId handle = texture_handle(operand(1), 1);
  const SlotId to = target(operand(0), 32);
  Proto& proto = emit(of_surface ? op_query_surface : op_query_texture);
  def(proto, 0, to);
  use(proto, 4, handle);
  proto.imm = static_cast<std::int64_t>(*what);
}

}  // namespace baton::sim
