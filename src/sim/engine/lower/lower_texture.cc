// Textures and surfaces, named by objects: tex, tld4, suld.b, sust.b, txq and suq.

#include <fmt/core.h>

#include "sim/engine/lower/lower.h"
#include "sim/engine/texture/texture_ops.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// The geometry: .1d, .2d and .3d, .a1d and .a2d with layers. Cubes and others are not there.
unsigned take_geometry(Modifiers& m, bool* has_layer) {
  if (const auto plain = m.take_one_of({"1d", "2d", "3d"})) {
    return static_cast<unsigned>(*plain) + 1;
  }
  if (const auto layered = m.take_one_of({"a1d", "a2d"})) {
    *has_layer = true;
    return static_cast<unsigned>(*layered) + 1;
  }
  constexpr std::string_view kOthers[] = {"cube", "acube", "2dms", "a2dms"};
  for (const std::string_view other : kOthers) {
    if (m.take(other)) {
      throw Unsupported{
          fmt::format("textures and surfaces of geometry .{}: the simulated GPU has "
                      ".1d, .2d, .3d, .a1d and .a2d",
                      other)};
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

// As many as there are dimensions, then the layer, which PTX writes first. Where that makes three,
// PTX writes a fourth, which means nothing.
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

// tex{.level,.grad}.geometry.v4.type.coordinates {d}, [a, {c}]{, level or gradients}
// tld4.component.2d.v4.type.f32 {d}, [a, {c}]
void Lowering::texture() {
  Modifiers m(*insn_);
  TextureAccess access;
  access.gathers = insn_->opcode == "tld4";
  // A texture without mipmaps has one level, whatever is asked for.
  const bool has_level = !access.gathers && m.take("level");
  const bool has_gradients = !access.gathers && m.take("grad");
  if (m.take("base")) throw Unsupported{"tex.base, as there are no mipmaps"};
  if (access.gathers) {
    const auto component = m.take_one_of({"r", "g", "b", "a"});
    if (!component) throw Unsupported{"its component is not known"};
    access.component = static_cast<unsigned>(*component);
  }
  access.dimensions = take_geometry(m, &access.has_layer);
  if (access.gathers && access.dimensions != 2)
    throw Unsupported{"it gathers of .2d and .a2d alone"};
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
  if (access.by_index && (access.gathers || has_gradients)) {
    throw Unsupported{"it takes coordinates of .f32"};
  }
  const std::size_t count = 2 + (has_level ? 1 : 0) + (has_gradients ? 2 : 0);
  if (insn_->operands.size() > count) throw Unsupported{"offsets and depths to compare with"};
  need_operands(count, count);
  const ptx::InstructionOperand& values = operand(0);
  if (values.kind != Kind::kVector || values.children.size() != 4) {
    throw Unsupported{"it does not write four registers in braces"};
  }
  const SlotId handle = texture_handle(operand(1), 2);
  std::vector<SlotId> coordinates =
      texture_coordinates(operand(1).children[1], access.dimensions, access.has_layer, coordinate);
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
  access.dimensions = take_geometry(m, &access.has_layer);
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

// txq.what.b32 d, [a] and suq.what.b32 d, [a]
void Lowering::texture_query() {
  Modifiers m(*insn_);
  const auto what = m.take_one_of({"width", "height", "depth"});
  if (!what) throw Unsupported{"it asks for neither .width, .height nor .depth"};
  if (m.need_type() != Type::kB32) throw Unsupported{"the answer is .b32"};
  m.finish();
  need_operands(2, 2);
  const SlotId handle = texture_handle(operand(1), 1);
  const SlotId to = target(operand(0), 32);
  Proto& proto = emit(insn_->opcode == "suq" ? op_query_surface : op_query_texture);
  def(proto, 0, to);
  use(proto, 4, handle);
  proto.imm = static_cast<std::int64_t>(*what);
}

}  // namespace baton::sim
