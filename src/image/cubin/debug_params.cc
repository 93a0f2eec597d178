#include "image/cubin/debug_params.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "image/cubin/debug_types.h"
#include "image/names/param_types.h"

namespace baton::image {
namespace {

// More fields are left to their reader.
constexpr std::size_t kMostFields = 64;
// Arrays of more elements are bytes.
constexpr std::uint64_t kMostElements = 16;
// The parameters of a kernel are smaller.
constexpr std::uint64_t kMostBytes = 1 << 16;

class ParamReader {
 public:
  explicit ParamReader(const DebugEntries& unit)
      : unit_(unit), entries_(unit.all()), types_(entries_) {}

  DebugParams read() const {
    DebugParams found;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const DwarfEntry& function = entries_[i];
      if (function.tag != kTagFunction) continue;
      std::vector<DebugParam> params;
      unit_.for_each_inside(i, [&](const DwarfEntry& entry) {
        if (entry.tag == kTagParameter) {
          params.push_back({std::string(entry.name), types_.source_type(entry.type),
                            types_.element_size(entry.type), types_.is_texture(entry.type),
                            fields_of(entry.type)});
        }
      });
      const std::string_view symbol = function.symbol.empty() ? function.name : function.symbol;
      // A declaration may come before the definition.
      if (!params.empty()) found.insert_or_assign(std::string(symbol), std::move(params));
    }
    return found;
  }

 private:
  bool is_struct(const DwarfEntry& type) const {
    return type.tag == kTagStruct || type.tag == kTagClass;
  }

  // Empty where the type is not a struct whose fields are known.
  std::vector<DebugField> fields_of(std::uint64_t type) const {
    const std::optional<std::size_t> at = types_.at(type);
    if (!at || !is_struct(entries_[*at])) return {};
    std::vector<DebugField> fields;
    if (!add_fields(*at, {}, 0, DebugTypes::kMostNesting, fields)) return {};
    std::uint64_t end = 0;
    for (const DebugField& field : fields) {
      if (field.offset < end) return {};
      end = field.offset + field.size;
    }
    return end <= entries_[*at].size ? fields : std::vector<DebugField>();
  }

  // False if there is one of an unknown size.
  bool add_fields(std::size_t of, const std::string& prefix, std::uint64_t base, int nesting,
                  std::vector<DebugField>& fields) const {
    bool all_are_known = nesting > 0;
    unit_.for_each_inside(of, [&](const DwarfEntry& member) {
      if (member.tag != kTagMember || !all_are_known) return;
      // The compiler's own name for a base class.
      const bool is_base = member.name.starts_with("__b_");
      const std::string name = is_base ? prefix : prefix + std::string(member.name);
      all_are_known = member.bit_size == 0 &&
                      add_field(member.type, name, base + member.member_at, nesting, fields);
    });
    return all_are_known;
  }

  bool add_field(std::uint64_t of, const std::string& name, std::uint64_t offset, int nesting,
                 std::vector<DebugField>& fields) const {
    const std::optional<std::size_t> at = types_.at(of);
    if (!at || fields.size() >= kMostFields) return false;
    const DwarfEntry& type = entries_[*at];
    if (type.tag == kTagArray) return add_array(*at, name, offset, nesting, fields);
    if (const auto dtype = DebugTypes::number_of(type)) {
      fields.push_back({name, offset, size_of(*dtype), false, dtype});
      return true;
    }
    if (is_struct(type)) {
      const bool has_prefix = !name.empty() && !name.ends_with('.');
      return add_fields(*at, has_prefix ? name + "." : name, offset, nesting - 1, fields);
    }
    if (type.tag == kTagPointer) {
      const std::optional<std::size_t> to = types_.at(type.type);
      fields.push_back({name, offset, sizeof(std::uint64_t), true,
                        to ? DebugTypes::number_of(entries_[*to]) : std::nullopt,
                        types_.source_type(of).read_only});
      return true;
    }
    return add_bytes(name, offset, type.size, fields);
  }

  // Its elements, or its bytes where they are many.
  bool add_array(std::size_t at, const std::string& name, std::uint64_t offset, int nesting,
                 std::vector<DebugField>& fields) const {
    const DwarfEntry& array = entries_[at];
    const std::optional<std::size_t> element = types_.at(array.type);
    const std::uint64_t size = element ? entries_[*element].size : 0;
    const bool is_pointer = element && entries_[*element].tag == kTagPointer;
    const std::uint64_t step = is_pointer ? sizeof(std::uint64_t) : size;
    const std::uint64_t count = count_of(at);
    if (step == 0 || count > kMostBytes / step) return false;
    if (count > kMostElements) return add_bytes(name, offset, count * step, fields);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string own = name + "[" + std::to_string(i) + "]";
      if (!add_field(array.type, own, offset + i * step, nesting - 1, fields)) return false;
    }
    return true;
  }

  // Of all dimensions together.
  std::uint64_t count_of(std::size_t array) const {
    std::uint64_t count = 1;
    unit_.for_each_inside(array, [&](const DwarfEntry& entry) {
      if (entry.tag == kTagSubrange && count <= kMostBytes) {
        count *= std::min(entry.count, kMostBytes + 1);
      }
    });
    return count;
  }

  static bool add_bytes(const std::string& name, std::uint64_t offset, std::uint64_t size,
                        std::vector<DebugField>& fields) {
    if (size == 0 || size > kMostBytes) return false;
    fields.push_back({name, offset, size, false, std::nullopt});
    return true;
  }

  const DebugEntries& unit_;
  const std::vector<DwarfEntry>& entries_;
  const DebugTypes types_;
};

}  // namespace

DebugParams debug_params(const DebugEntries& entries) {
  return ParamReader(entries).read();
}

DebugParams debug_params(const ptx::ParsedModule& module) {
  return debug_params(DebugEntries(module));
}

DebugParams debug_params(const std::vector<ElfSection>& sections) {
  return debug_params(DebugEntries(sections));
}

void take_params(ImageFacts& facts, const DebugParams& params) {
  for (KernelFacts& kernel : facts.kernels) {
    const auto found = params.find(kernel.name);
    if (found == params.end() || !kernel.params) continue;
    if (found->second.size() != kernel.params->size()) continue;
    std::vector<SourceType> types;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      (*kernel.params)[i].name = found->second[i].name;
      types.push_back(found->second[i].type);
    }
    if (!has_types_in_name(kernel)) apply_types(kernel, types);
  }
}

}  // namespace baton::image
