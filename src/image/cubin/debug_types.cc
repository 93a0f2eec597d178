#include "image/cubin/debug_types.h"

#include <algorithm>
#include <string_view>

#include "image/names/mangled_name.h"

namespace baton::image {
namespace {

// The encodings of basic types.
enum class DwarfEncoding : std::uint64_t {
  kBoolean = 2,
  kFloat = 4,
  kSigned = 5,
  kSignedChar = 6,
  kUnsigned = 7,
  kUnsignedChar = 8,
};

std::optional<DType> dtype_of_base(const DwarfEntry& base) {
  constexpr DType kFloats[] = {DType::kF32, DType::kF64};
  constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
  constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  const int power = base.size == 1   ? 0
                    : base.size == 2 ? 1
                    : base.size == 4 ? 2
                    : base.size == 8 ? 3
                                     : -1;
  if (power < 0) return std::nullopt;
  switch (static_cast<DwarfEncoding>(base.encoding)) {
    case DwarfEncoding::kFloat:
      if (power < 2) return std::nullopt;
      return kFloats[power - 2];
    case DwarfEncoding::kSigned:
    case DwarfEncoding::kSignedChar:
      return kSigned[power];
    case DwarfEncoding::kBoolean:
    case DwarfEncoding::kUnsigned:
    case DwarfEncoding::kUnsignedChar:
      return kUnsigned[power];
  }
  return std::nullopt;
}

bool is_reference(const DwarfEntry& type) {
  return type.tag == kTagReference || type.tag == kTagRvalueReference;
}

// What follows the text of the type that it leads to; empty for others.
std::string_view mark_of(const DwarfEntry& type) {
  if (type.tag == kTagPointer) return "*";
  if (type.tag == kTagReference) return "&";
  return type.tag == kTagRvalueReference ? "&&" : "";
}

// NVRTC writes the symbol of an enumeration as its name.
std::string name_of(const DwarfEntry& type) {
  const std::optional<MangledName> name = read_mangled(type.name);
  return name ? name->text : std::string(type.name);
}

}  // namespace

DebugTypes::DebugTypes(const std::vector<DwarfEntry>& entries) : entries_(entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) at_.emplace(entries[i].offset, i);
}

DebugTypes::Unqualified DebugTypes::unqualified(std::uint64_t offset) const {
  Unqualified found;
  for (int steps = 0; steps < kMostNesting; ++steps) {
    const auto entry = at_.find(offset);
    // No entry is at the front of the section: a pointer without a type is one to void.
    found.is_void = offset == 0;
    if (entry == at_.end()) return found;
    const DwarfEntry& type = entries_[entry->second];
    switch (type.tag) {
      case kTagConst:
        found.is_const = true;
        break;
      case kTagVolatile:
        found.is_volatile = true;
        break;
      case kTagRestrict:
      case kTagTypedef:
        break;
      case kTagUnspecified:
        found.is_void = true;
        return found;
      default:
        found.at = entry->second;
        return found;
    }
    offset = type.type;
  }
  return found;
}

std::optional<std::size_t> DebugTypes::at(std::uint64_t offset) const {
  return unqualified(offset).at;
}

SourceType DebugTypes::source_type(std::uint64_t offset) const {
  // A qualifier of the parameter itself is not of its type.
  const Unqualified own = {unqualified(offset).at};
  SourceType found;
  if (!own.at) return found;
  const DwarfEntry& type = entries_[*own.at];
  found.type = text_of(own, kMostNesting);
  if (type.tag == kTagPointer || is_reference(type)) {
    const Unqualified to = unqualified(type.type);
    found.kind = ParamKind::kPointer;
    found.size = sizeof(std::uint64_t);
    if (to.at) found.dtype = dtype_of_type(entries_[*to.at].name);
    found.read_only = to.is_const;
    return found;
  }
  found.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(type.size, UINT32_MAX));
  found.dtype = dtype_of_type(type.name);
  if (found.dtype) found.kind = ParamKind::kScalar;
  return found;
}

std::uint64_t DebugTypes::element_size(std::uint64_t pointer) const {
  const std::optional<std::size_t> index = at(pointer);
  if (!index || mark_of(entries_[*index]).empty()) return 0;
  const std::optional<std::size_t> element = at(entries_[*index].type);
  return element ? entries_[*element].size : 0;
}

bool DebugTypes::is_texture(std::uint64_t offset) const {
  for (int steps = 0; steps < kMostNesting; ++steps) {
    const auto entry = at_.find(offset);
    if (entry == at_.end()) return false;
    const DwarfEntry& type = entries_[entry->second];
    const bool is_named = type.name == "cudaTextureObject_t" || type.name == "cudaSurfaceObject_t";
    if (type.tag == kTagTypedef && is_named) return true;
    if (type.tag != kTagTypedef && type.tag != kTagConst) return false;
    offset = type.type;
  }
  return false;
}

std::string DebugTypes::text_of(const Unqualified& type, int nesting) const {
  if (nesting == 0) return {};
  std::string text;
  if (type.is_void) {
    text = "void";
  } else if (type.at) {
    const DwarfEntry& entry = entries_[*type.at];
    const std::string_view mark = mark_of(entry);
    if (mark.empty()) {
      text = name_of(entry);
    } else {
      text = text_of(unqualified(entry.type), nesting - 1);
      if (!text.empty()) text += mark;
    }
  }
  if (text.empty()) return {};
  if (type.is_const) text += " const";
  if (type.is_volatile) text += " volatile";
  return text;
}

std::optional<DType> DebugTypes::number_of(const DwarfEntry& type) {
  switch (type.tag) {
    case kTagBase:
      return dtype_of_base(type);
    case kTagEnumeration:
      if (type.size == 4) return DType::kI32;
      break;
    case kTagStruct:
      if (const auto dtype = dtype_of_type(type.name); dtype && type.size == size_of(*dtype)) {
        return dtype;
      }
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace baton::image
