#include "pdl/origin/origin_values.h"

#include <algorithm>

namespace baton::overlap {

OriginValues::OriginValues(const Code& code, OriginPool& pool)
    : code_(code), pool_(pool), values_(code.values()) {
  give_what_is_never_written();
}

// Whatever it holds comes from no address.
void OriginValues::give_what_is_never_written() {
  std::vector<bool> written(code_.registers);
  for (const Operation& operation : code_.operations) {
    for (const std::uint32_t id : operation.defines) written[id] = true;
  }
  for (std::uint32_t id = 0; id < code_.registers; ++id) {
    if (!written[id]) values_[id] = {OriginPool::kNumber};
  }
}

OriginSet OriginValues::of(const ValueSource& source) {
  switch (source.kind) {
    case ValueSource::Kind::kRegister:
      return values_[source.id];
    case ValueSource::Kind::kConstant:
      return {source.bits == 0 ? OriginPool::kNull : OriginPool::kNumber};
    case ValueSource::Kind::kParam:
      return from(SourceKind::kParamSpace, source.id);
    case ValueSource::Kind::kVariable:
      return moved(from(SourceKind::kVariable, source.id), source);
    case ValueSource::Kind::kConst:
      return moved(from(SourceKind::kConst, source.id), source);
    case ValueSource::Kind::kShared:
      return from(SourceKind::kShared);
    case ValueSource::Kind::kLocal:
      return from(SourceKind::kLocal);
    case ValueSource::Kind::kAnything:
      return {OriginPool::kUnknown};
    case ValueSource::Kind::kSpecial:
    case ValueSource::Kind::kOther:
      break;
  }
  return {OriginPool::kNumber};
}

OriginSet OriginValues::moved(OriginSet address, const ValueSource& source) {
  return source.bits == 0 ? address : add(address, {OriginPool::kNumber});
}

OriginSet OriginValues::read(const Operation& operation, const ValueSource& source) {
  return operation.cuts ? mix(of(source), {OriginPool::kNumber}) : of(source);
}

bool OriginValues::is_only_loaded(OriginId id) const {
  return id != OriginPool::kUnknown &&
         std::ranges::all_of(pool_[id].sources, [](const AddressSource& source) {
           return source.kind == SourceKind::kLoaded;
         });
}

OriginSet OriginValues::add(const OriginSet& a, const OriginSet& b) {
  return each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.add(x, y); });
}

OriginSet OriginValues::subtract(const OriginSet& a, const OriginSet& b) {
  return each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.subtract(x, y); });
}

OriginSet OriginValues::mix(const OriginSet& a, const OriginSet& b) {
  return each_pair(a, b, [&](OriginId x, OriginId y) { return pool_.mix(x, y); });
}

OriginSet OriginValues::either(OriginSet a, const OriginSet& b) {
  pool_.join(a, b);
  return a;
}

OriginSet OriginValues::widened(const Operation& operation, const OriginSet& value) {
  if (operation.width != 64) return value;
  return each(value, [&](OriginId id) { return pool_.widen(id); });
}

OriginSet OriginValues::negated_by(const Operation& operation, const OriginSet& value) {
  const bool negates = std::ranges::any_of(operation.sources, [&](const ValueSource& source) {
    return source.kind == ValueSource::Kind::kConstant && operation.width != 0 &&
           operation.width <= 64 && (source.bits >> (operation.width - 1) & 1) != 0;
  });
  return negates ? subtract({OriginPool::kNumber}, value) : value;
}

OriginSet OriginValues::mixed(const Operation& operation) {
  OriginSet result = {OriginPool::kNumber};
  for (const ValueSource& source : operation.sources) result = mix(result, of(source));
  return negated_by(operation, widened(operation, result));
}

OriginSet OriginValues::mixed_over_lanes(const Operation& operation) {
  OriginSet all = {OriginPool::kNumber};
  for (const ValueSource& source : operation.sources) {
    const OriginSet one = of(source);
    if (one.empty()) return {};
    pool_.join(all, one);
  }
  return {pool_.collapse(all)};
}

}  // namespace baton::overlap
