#include "bind/argument.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/overloaded.h"

namespace baton::bind {
namespace {

constexpr std::uint32_t kPointerSize = 8;

// A field as it would be declared: a parameter of its own. Its type has to be written out.
ParamFacts field_facts(const LaunchArgument& field, const ParamFacts& parent,
                       const ValuePlace& place) {
  ParamFacts facts;
  facts.read_only = parent.read_only;
  const auto is_pointer = [&] {
    facts.size = kPointerSize;
    facts.kind = ParamKind::kPointer;
  };
  std::visit(Overloaded{[&](const BufferOffset&) { is_pointer(); },
                        [&](const BufferView&) { is_pointer(); },
                        [&](const TypedValue& typed) {
                          facts.size = static_cast<std::uint32_t>(size_of(typed.dtype));
                          facts.kind = ParamKind::kScalar;
                          facts.dtype = typed.dtype;
                          facts.type = to_string(typed.dtype);
                        },
                        [&](const RawBytes& raw) {
                          facts.size = static_cast<std::uint32_t>(raw.bytes.size());
                          facts.kind = ParamKind::kBytes;
                        },
                        [&](const auto&) {
                          throw error_at(field.where, ErrorCode::kInvalidInput,
                                         "{} has no type of its own in a struct; write a buffer, a "
                                         "type as in {{ i32 = \"N\" }}, bytes, or a struct",
                                         place.text());
                        }},
             field.value);
  return facts;
}

std::uint32_t align(std::uint32_t position, std::uint32_t alignment) {
  return (position + alignment - 1) / alignment * alignment;
}

}  // namespace

PlannedArgument::PlannedArgument(const LaunchArgument& argument, const ParamFacts& param,
                                 const ValuePlace& place, const Device& device,
                                 const NameSlots& names, const BufferTable& buffers)
    : size_(param.size) {
  if (const auto* fields = std::get_if<StructArgument>(&argument.value)) {
    try {
      plan_fields(*fields, param, place, device, names, buffers);
    } catch (Error& failure) {
      failure.at(argument.where);
      throw;
    }
  } else {
    parts_.emplace<Part>(0, argument, param, place, device, names, buffers);
  }
}

// The layout that C gives a struct: each field at the next multiple of its alignment, and the whole
// padded to the largest one.
void PlannedArgument::plan_fields(const StructArgument& fields, const ParamFacts& param,
                                  const ValuePlace& place, const Device& device,
                                  const NameSlots& names, const BufferTable& buffers) {
  auto& parts = std::get<std::vector<Part>>(parts_);
  struct Layout {
    std::uint32_t end = 0, alignment = 1;
  };
  const auto lay_out = [&](const auto& self, const StructArgument& list, std::uint32_t begin,
                           const ValuePlace& outer) -> Layout {
    Layout layout{begin, 1};
    for (std::size_t i = 0; i < list.fields.size(); ++i) {
      const LaunchArgument& field = list.fields[i];
      const ValuePlace own = outer.field(i);
      if (const auto* inner = std::get_if<StructArgument>(&field.value)) {
        // Its alignment is known once its fields are: a first pass finds it.
        const std::size_t known = parts.size();
        const std::uint32_t alignment = self(self, *inner, 0, own).alignment;
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(known), parts.end());
        const Layout found = self(self, *inner, align(layout.end, alignment), own);
        layout = {found.end, std::max(layout.alignment, alignment)};
        continue;
      }
      const ParamFacts facts = field_facts(field, param, own);
      const std::uint32_t alignment = facts.kind == ParamKind::kBytes ? 1 : facts.size;
      const std::uint32_t position = align(layout.end, alignment);
      parts.emplace_back(position, field, facts, own, device, names, buffers);
      layout = {position + facts.size, std::max(layout.alignment, alignment)};
    }
    layout.end = align(layout.end, layout.alignment);
    return layout;
  };
  const Layout whole = lay_out(lay_out, fields, 0, place);
  if (whole.end == size_) return;
  throw error(ErrorCode::kInvalidInput,
              "{} is a struct of {} bytes, the parameter has {}; fields are aligned as in C",
              place.text(), whole.end, size_);
}

ArgumentType PlannedArgument::type() const {
  if (const ArgumentPart* only = single()) return only->type();
  return {size_, false, std::nullopt};
}

bool PlannedArgument::uses_slot(std::size_t slot) const {
  return std::ranges::any_of(parts(), [&](const Part& part) { return part.value.uses_slot(slot); });
}

void PlannedArgument::write(std::span<const std::int64_t> slots, const BufferTable& buffers,
                            std::byte* target) const {
  if (single() == nullptr) std::memset(target, 0, size_);
  for (const Part& part : parts()) part.value.write(slots, buffers, target + part.position);
}

}  // namespace baton::bind
