#include "baton/program.h"

#include <algorithm>
#include <tuple>

#include "program/check/same_value.h"
#include "program/check/validate.h"
#include "program/names.h"
#include "program/steps/collective_facts.h"
#include "program/steps/step_kind.h"

namespace baton {
namespace {

template <typename Part>
const Part* find_named(const std::vector<Part>& parts, std::string_view name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

template <std::size_t N, typename Enum>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

// Images are what their bytes are.
bool are_equal(const std::optional<Image>& a, const std::optional<Image>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->kind() == b->kind() && a->bytes() == b->bytes();
}

}  // namespace

std::string_view to_string(BufferRole role) noexcept {
  return name_of(kRoleNames, role);
}
std::string_view to_string(ReduceOp op) noexcept {
  return name_of(kReduceNames, op);
}
std::string_view to_string(CollectiveKind kind) noexcept {
  return facts_of(kind).name;
}
std::string_view to_string(BufferInit init) noexcept {
  return name_of(kInitNames, init);
}
std::string_view to_string(Relation relation) noexcept {
  return name_of(kRelationNames, relation);
}
std::string_view to_string(KernelOrigin origin) noexcept {
  return name_of(kOriginNames, origin);
}
std::string_view to_string(PdlMode mode) noexcept {
  return name_of(kPdlNames, mode);
}
std::string_view to_string(RewriteMode mode) noexcept {
  return name_of(kRewriteNames, mode);
}
std::string_view to_string(BlockPlacement placement) noexcept {
  return name_of(kPlacementNames, placement);
}

Program::Program(ProgramDefinition definition) {
  Validation found = validate(definition);
  warnings_ = std::make_shared<const std::vector<std::string>>(std::move(found.warnings));
  setup_names_ =
      std::make_shared<const std::set<std::string, std::less<>>>(std::move(found.setup_names));
  definition_ = std::make_shared<const ProgramDefinition>(std::move(definition));
}

const ProgramSymbol* Program::symbol(std::string_view name) const {
  return find_named(symbols(), name);
}
const ProgramBuffer* Program::buffer(std::string_view name) const {
  return find_named(buffers(), name);
}
const ProgramKernel* Program::kernel(std::string_view name) const {
  return find_named(kernels(), name);
}

bool operator==(const TypedValue& a, const TypedValue& b) {
  return a.dtype == b.dtype && same_value(a.value, b.value);
}

bool operator==(const AttributeValue& a, const AttributeValue& b) {
  return a.field == b.field && same_value(a.value, b.value);
}

const ProgramAttribute* ProgramAttributes::find(std::string_view name) const {
  return find_named(list, name);
}

bool operator==(const LaunchArgument& a, const LaunchArgument& b) {
  return same_value(a.value, b.value);
}

bool operator==(const TensorMapArgument& a, const TensorMapArgument& b) {
  const auto parts = [](const TensorMapArgument& map) {
    return std::tie(map.buffer, map.shape, map.strides, map.box, map.element_strides, map.type,
                    map.interleave, map.swizzle, map.l2_promotion, map.oob_fill);
  };
  return parts(a) == parts(b);
}

bool operator==(const StructArgument& a, const StructArgument& b) {
  return a.fields == b.fields;
}

bool operator==(const ProgramSymbol& a, const ProgramSymbol& b) {
  return std::tie(a.name, a.value) == std::tie(b.name, b.value);
}

bool operator==(const ProgramBuffer& a, const ProgramBuffer& b) {
  const auto parts = [](const ProgramBuffer& buffer) {
    return std::tie(buffer.name, buffer.dtype, buffer.shape, buffer.role, buffer.init,
                    buffer.deviation, buffer.low, buffer.high, buffer.file, buffer.tensor,
                    buffer.convert, buffer.variable, buffer.frozen, buffer.shards, buffer.expect);
  };
  return parts(a) == parts(b);
}

bool operator==(const ProgramKernel& a, const ProgramKernel& b) {
  const auto parts = [](const ProgramKernel& kernel) {
    return std::tie(kernel.name, kernel.origin, kernel.file, kernel.text, kernel.link, kernel.entry,
                    kernel.prelude, kernel.include, kernel.options, kernel.launch, kernel.rewrite);
  };
  if (parts(a) != parts(b) || !are_equal(a.image, b.image)) return false;
  if (!a.compiled || !b.compiled) return a.compiled.has_value() == b.compiled.has_value();
  return are_equal(a.compiled->ptx, b.compiled->ptx) &&
         are_equal(a.compiled->cubin, b.compiled->cubin) &&
         a.compiled->symbols == b.compiled->symbols;
}

bool operator==(const ProgramStep& a, const ProgramStep& b) {
  if (a.action.index() != b.action.index()) return false;
  return std::visit(
      [&](const auto& action) {
        return equal_steps(action, std::get<std::decay_t<decltype(action)>>(b.action));
      },
      a.action);
}

bool operator==(const Program& a, const Program& b) {
  const auto all = [](const Program& program) {
    const ProgramDefinition& all_parts = *program.definition_;
    return std::tie(all_parts.name, all_parts.world, all_parts.symbols, all_parts.requirements,
                    all_parts.tune, all_parts.buffers, all_parts.kernels, all_parts.setup,
                    all_parts.steps);
  };
  return all(a) == all(b);
}

}  // namespace baton
