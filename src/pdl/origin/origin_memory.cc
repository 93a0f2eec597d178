#include "pdl/origin/origin_memory.h"

#include <algorithm>
#include <utility>

#include "pdl/order/shared_place.h"

namespace baton::overlap {
namespace {

using Space = Operation::Space;

// Whether an operation uses the address of a parameter other than to load from there.
bool gives_params(const Code& code) {
  return std::ranges::any_of(code.operations, [](const Operation& operation) {
    return std::ranges::any_of(operation.sources, [](const ValueSource& source) {
      return source.kind == ValueSource::Kind::kParam;
    });
  });
}

}  // namespace

OriginMemory::OriginMemory(const Code& code, OriginValues& values, bool places_are_told,
                           Define define)
    : code_(code),
      values_(values),
      pool_(values.pool()),
      define_(std::move(define)),
      places_are_told_(places_are_told),
      gives_params_(gives_params(code)) {}

void OriginMemory::define_all(const Operation& operation, const OriginSet& value) {
  for (const std::uint32_t id : operation.defines) define_(id, value);
}

bool OriginMemory::has(OriginId id, SourceKind kind) const {
  return std::ranges::any_of(pool_[id].sources,
                             [&](const AddressSource& source) { return source.kind == kind; });
}

// Whether the address lies there, if parameters that are added are indexes.
bool OriginMemory::is_certainly(OriginId id, SourceKind kind) const {
  return std::ranges::all_of(pool_[id].sources, [&](const AddressSource& source) {
    return source.kind == kind && source.ways == AddressSource::kWhole;
  });
}

// Whether it is an address in a space that is neither that of local memory nor that of parameters,
// unless it shows that. A parameter may be a number that is added to an address of the block's.
bool OriginMemory::has_known_place(OriginId id) const {
  if (id == OriginPool::kUnknown) return false;
  return std::ranges::any_of(pool_[id].sources, [this](const AddressSource& source) {
    if (!places_are_told_) {
      return source.kind != SourceKind::kLoaded && source.kind != SourceKind::kLocal;
    }
    const bool is_variable =
        source.kind == SourceKind::kVariable || source.kind == SourceKind::kConst;
    return is_variable && source.ways == AddressSource::kWhole;
  });
}

void OriginMemory::load(const Operation& operation) {
  if (operation.defines.empty()) return;
  const OriginSet address = values_.of(operation.address);
  for (const OriginId id : address) {
    const bool in_params = has(id, SourceKind::kParamSpace);
    const bool is_local = operation.space == Space::kLocal || has(id, SourceKind::kLocal);
    // A pointer to local memory may have been stored, and loaded again.
    const bool may_be_local =
        is_local || (operation.space == Space::kGeneric && !has_known_place(id));
    if (in_params) load_param(operation, id);
    if (may_be_local) load_local(operation);
    if (gives_params_ && operation.space == Space::kGeneric && !has_known_place(id)) {
      define_all(operation, {OriginPool::kUnknown});
    }
    const bool is_elsewhere = !(in_params && is_certainly(id, SourceKind::kParamSpace)) &&
                              !(is_local && is_certainly(id, SourceKind::kLocal));
    if (is_elsewhere) define_all(operation, values_.loaded(operation));
    tell_place(operation, id, in_params || may_be_local);
  }
  // Other operands decide what is read, too: the stride of a matrix, coordinates of a texture.
  for (const ValueSource& source : operation.sources) {
    for (const OriginId id : values_.of(source)) {
      tell(operation, pool_.mix(id, OriginPool::kNumber));
    }
  }
}

// The value that is read depends on the index that decides its place. A loaded value depends on
// loaded values in any case, so that they need not be told, unless the memory `is_known`, or the
// difference of two of them is the index.
void OriginMemory::tell_place(const Operation& operation, OriginId address, bool is_known) {
  const OriginId index = pool_.index_of(address);
  const bool is_told = is_known || !values_.is_only_loaded(index) || pool_.loads_differ(index);
  if (is_told) tell(operation, index);
}

void OriginMemory::tell(const Operation& operation, OriginId decides) {
  if (decides != OriginPool::kUnknown && pool_[decides].sources.empty()) return;
  define_all(operation, values_.add(values_.loaded(operation), {decides}));
}

void OriginMemory::load_local(const Operation& operation) {
  const OriginSet& same = values_[code_.local_memory(operation.width)];
  define_all(operation, same);
  // Elements of other sizes are parts of this one, or it is a part of them.
  OriginSet all = same;
  bool differs = false;
  for (const std::uint32_t cell : code_.local_memories()) {
    if (values_[cell].empty() || cell == code_.local_memory(operation.width)) continue;
    differs = true;
    pool_.join(all, values_[cell]);
  }
  if (differs) define_all(operation, {pool_.widen(pool_.collapse(all))});
}

void OriginMemory::load_param(const Operation& operation, OriginId address) {
  for (const AddressSource& at : std::vector<AddressSource>(pool_[address].sources)) {
    if (at.kind != SourceKind::kParamSpace) continue;
    for (std::size_t k = 0; k < operation.defines.size(); ++k) {
      define_(operation.defines[k], param_element(operation, at.id, k, pool_[address].is_exact));
    }
  }
}

// The `k`-th element that the operation loads from a parameter.
// `is_direct`: from the parameter's own address and the instruction's offset.
OriginSet OriginMemory::param_element(const Operation& operation, std::uint32_t id, std::size_t k,
                                      bool is_direct) {
  const ptx::Variable& param = code_.kernel->params[id];
  const std::uint64_t size = variable_bytes(param);
  const std::int64_t first = operation.instruction->operands[1].offset;
  const unsigned bytes = operation.width / 8;
  std::uint32_t offset = AddressSource::kAnyOffset;
  if (is_direct) {
    const std::int64_t at = first + static_cast<std::int64_t>(k * bytes);
    if (at < 0 || static_cast<std::uint64_t>(at) + bytes > size) return {OriginPool::kUnknown};
    offset = static_cast<std::uint32_t>(at);
  }
  if (!is_direct && param.extents.empty()) return {OriginPool::kUnknown};
  if (size < 8) return {OriginPool::kNumber};
  const bool is_aligned = !is_direct || offset % 8 == 0;
  if (operation.width == 64 && is_aligned) return values_.from(SourceKind::kParam, id, offset);
  if (operation.width == 32 && (!is_direct || offset % 4 == 0)) {
    return values_.from(SourceKind::kParamWord, id, offset);
  }
  if (operation.width == 8 || operation.width == 16) {
    const std::uint32_t word = is_direct ? offset & ~3u : offset;
    return values_.mix(values_.from(SourceKind::kParamWord, id, word), {OriginPool::kNumber});
  }
  return {OriginPool::kUnknown};
}

void OriginMemory::store(const Operation& operation) {
  const bool is_local = operation.space == Space::kLocal;
  bool reaches = is_local;
  if (operation.space == Space::kGeneric) {
    for (const OriginId id : values_.of(operation.address)) {
      reaches |= has(id, SourceKind::kLocal) || !has_known_place(id);
    }
  }
  if (!reaches) return;
  for (const ValueSource& source : operation.sources) {
    define_(code_.local_memory(operation.width), values_.read(operation, source));
  }
  // What decides the place that is written can be told from what is where afterwards.
  for (const OriginId id : values_.of(operation.address)) {
    const OriginId index = pool_.index_of(id);
    if (index != OriginPool::kNumber) define_(code_.local_memory(operation.width), {index});
  }
}

void OriginMemory::update(const Operation& operation) {
  store(operation);
  define_all(operation, values_.loaded(operation));
  for (const OriginId id : values_.of(operation.address)) tell_place(operation, id, false);
}

}  // namespace baton::overlap
