#include "image/debug_params.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "image/dwarf_unit.h"
#include "image/ptx_section.h"

namespace baton::image {
namespace {

// More fields, and structs nested deeper, are left to their reader.
constexpr std::size_t kMostFields = 64;
constexpr int kMostNesting = 8;

// The encodings of basic types.
enum class DwarfEncoding : std::uint64_t {
  kBoolean = 2,
  kFloat = 4,
  kSigned = 5,
  kSignedChar = 6,
  kUnsigned = 7,
  kUnsignedChar = 8,
};

std::optional<DType> dtype_of(const DwarfEntry& base) {
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

class ParamReader {
 public:
  explicit ParamReader(std::vector<DwarfEntry> entries) : entries_(std::move(entries)) {
    for (std::size_t i = 0; i < entries_.size(); ++i) at_.emplace(entries_[i].offset, i);
  }

  DebugParams read() const {
    DebugParams found;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const DwarfEntry& function = entries_[i];
      if (function.tag != kTagFunction) continue;
      std::vector<DebugParam> params;
      for_each_inside(i, [&](const DwarfEntry& entry) {
        if (entry.tag == kTagParameter) {
          params.push_back({std::string(entry.name), fields_of(entry.type)});
        }
      });
      const std::string_view symbol = function.symbol.empty() ? function.name : function.symbol;
      // A declaration may come before the definition.
      if (!params.empty()) found.insert_or_assign(std::string(symbol), std::move(params));
    }
    return found;
  }

 private:
  // The entries right inside of another one.
  template <typename Visit>
  void for_each_inside(std::size_t outer, Visit&& visit) const {
    const std::uint64_t depth = entries_[outer].depth;
    for (std::size_t i = outer + 1; i < entries_.size() && entries_[i].depth > depth; ++i) {
      if (entries_[i].depth == depth + 1) visit(entries_[i]);
    }
  }

  // The type at an offset without qualifiers and aliases.
  std::optional<std::size_t> type_at(std::uint64_t offset) const {
    for (int steps = 0; steps < kMostNesting; ++steps) {
      const auto found = at_.find(offset);
      if (found == at_.end()) return std::nullopt;
      const DwarfEntry& type = entries_[found->second];
      const bool is_alias = type.tag == kTagConst || type.tag == kTagVolatile ||
                            type.tag == kTagRestrict || type.tag == kTagTypedef;
      if (!is_alias) return found->second;
      offset = type.type;
    }
    return std::nullopt;
  }

  bool is_struct(const DwarfEntry& type) const {
    return type.tag == kTagStruct || type.tag == kTagClass;
  }

  // Empty where the type is not a struct of pointers and numbers.
  std::vector<DebugField> fields_of(std::uint64_t type) const {
    const std::optional<std::size_t> at = type_at(type);
    if (!at || !is_struct(entries_[*at])) return {};
    std::vector<DebugField> fields;
    if (!add_fields(*at, {}, 0, kMostNesting, fields)) return {};
    // Each at the next multiple of its size, and the whole at one of the largest.
    std::uint64_t end = 0;
    std::uint64_t largest = 1;
    for (const DebugField& field : fields) {
      if (field.offset != (end + field.size - 1) / field.size * field.size) return {};
      end = field.offset + field.size;
      largest = std::max(largest, field.size);
    }
    if (entries_[*at].size != (end + largest - 1) / largest * largest) return {};
    return fields;
  }

  // False if there is one that is neither a pointer nor a number nor a struct of such.
  bool add_fields(std::size_t of, const std::string& prefix, std::uint64_t base, int nesting,
                  std::vector<DebugField>& fields) const {
    bool all_are_known = nesting > 0;
    for_each_inside(of, [&](const DwarfEntry& member) {
      if (member.tag != kTagMember || !all_are_known) return;
      all_are_known = fields.size() < kMostFields &&
                      add_field(member, prefix, base + member.member_at, nesting, fields);
    });
    return all_are_known;
  }

  bool add_field(const DwarfEntry& member, const std::string& prefix, std::uint64_t offset,
                 int nesting, std::vector<DebugField>& fields) const {
    const std::optional<std::size_t> at = type_at(member.type);
    if (!at) return false;
    const DwarfEntry& type = entries_[*at];
    const std::string name = prefix + std::string(member.name);
    if (is_struct(type)) return add_fields(*at, name + ".", offset, nesting - 1, fields);
    if (type.tag == kTagPointer) {
      const std::optional<std::size_t> to = type_at(type.type);
      const bool is_base = to && entries_[*to].tag == kTagBase;
      fields.push_back({name, offset, sizeof(std::uint64_t), true,
                        is_base ? dtype_of(entries_[*to]) : std::nullopt});
      return true;
    }
    std::optional<DType> dtype;
    if (type.tag == kTagBase) dtype = dtype_of(type);
    if (type.tag == kTagEnumeration && type.size == 4) dtype = DType::kI32;
    if (!dtype) return false;
    fields.push_back({name, offset, type.size, false, dtype});
    return true;
  }

  const std::vector<DwarfEntry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> at_;  // by offset
};

}  // namespace

DebugParams debug_params(const ptx::ParsedModule& module) {
  PtxSection info, abbreviations, strings;
  const std::pair<std::string_view, PtxSection*> wanted[] = {
      {".debug_info", &info}, {".debug_abbrev", &abbreviations}, {".debug_str", &strings}};
  for (const ptx::TopLevel& item : module.items()) {
    const auto* const section = std::get_if<ptx::Section>(&item);
    if (section == nullptr) continue;
    for (const auto& [name, into] : wanted) {
      if (section->name != name) continue;
      if (auto read = read_section(*section)) *into = std::move(*read);
    }
  }
  if (info.bytes.empty() || abbreviations.bytes.empty()) return {};
  return ParamReader(read_unit(info, abbreviations, strings)).read();
}

}  // namespace baton::image
