#include "pdl/origin/origin_pool.h"

#include <algorithm>
#include <utility>

namespace baton::overlap {
namespace {

using Ways = AddressSource::Ways;

constexpr std::size_t kMaxOrigins = 16;  // that one value may have
constexpr std::size_t kMaxSources = 64;  // that one origin may have

Origin unknown_origin() {
  Origin origin;
  origin.is_unknown = true;
  return origin;
}

AddressSource* find(std::vector<AddressSource>& sources, const AddressSource& wanted) {
  const auto found =
      std::ranges::find_if(sources, [&](const AddressSource& s) { return s.is_same(wanted); });
  return found == sources.end() ? nullptr : &*found;
}

// Whether the lowest bits of the value tell no more of the address than its own lowest bits.
bool tells_low_bits(const AddressSource& source) {
  const bool is_upper = source.kind == SourceKind::kParamWord && source.offset % 8 != 0;
  return source.kind != SourceKind::kLoaded && !is_upper &&
         (source.ways == AddressSource::kWhole || source.ways == AddressSource::kLow ||
          (source.ways & AddressSource::kBitwise) != 0);
}

// Adds a source that has gone in `ways`. Twice the whole is no longer the whole: taking it away
// once does not leave a number.
void insert(std::vector<AddressSource>& sources, AddressSource source, Ways ways) {
  AddressSource* const old = find(sources, source);
  if (old != nullptr && source.kind == SourceKind::kLoaded) {
    old->ways |= ways;
    return;
  }
  if (old != nullptr) {
    const Ways whole = static_cast<Ways>((old->ways ^ ways) & AddressSource::kWhole);
    old->ways = static_cast<Ways>(AddressSource::kMixed | whole);
    return;
  }
  source.ways = ways;
  sources.push_back(source);
}

// How a loaded value has gone in that is subtracted.
Ways taken_away(const AddressSource& loaded) {
  return loaded.ways == AddressSource::kLow ? AddressSource::kLow : AddressSource::kMixed;
}

// Any function of loaded values. Of one of 64 bits and of narrow ones it is not a difference of
// two.
Ways mixed_loads(Ways a, Ways b) {
  const auto is_wide = [](Ways ways) { return (ways & ~AddressSource::kLow) != 0; };
  return is_wide(a) && is_wide(b) ? AddressSource::kMixed : static_cast<Ways>(a | b);
}

// Adds what was loaded to the sources of a function of both.
void mix_load(std::vector<AddressSource>& sources, const AddressSource& loaded) {
  if (AddressSource* const old = find(sources, loaded)) {
    old->ways = mixed_loads(old->ways, loaded.ways);
  } else {
    sources.push_back(loaded);
  }
}

// Whether two values that hold it hold the same: the address of one place.
bool is_one_value(const AddressSource& source) {
  return source.kind != SourceKind::kLoaded && source.offset != AddressSource::kAnyOffset;
}

// Whether the difference of two values that hold it whole is that of the numbers in them. A sum of
// 32 bits may have lost a carry, which shows how the word compares with a number.
bool goes_out(const AddressSource& source) {
  return is_one_value(source) && source.kind != SourceKind::kParamWord;
}

bool are_halves(const AddressSource& low, const AddressSource& high) {
  return low.is_same(high) && low.ways == AddressSource::kLow && high.ways == AddressSource::kHigh;
}

// The 64 bits that two words of a parameter are, one after the other.
bool are_words_of(const AddressSource& low, const AddressSource& high, AddressSource& whole) {
  const bool any = low.offset == AddressSource::kAnyOffset && high.offset == low.offset;
  const bool in_order = low.offset % 8 == 0 && high.offset == low.offset + 4;
  if (low.kind != SourceKind::kParamWord || high.kind != SourceKind::kParamWord ||
      low.id != high.id || low.ways != AddressSource::kWhole ||
      high.ways != AddressSource::kWhole || !(any || in_order)) {
    return false;
  }
  whole = {.kind = SourceKind::kParam,
           .id = low.id,
           .offset = low.offset,
           .ways = AddressSource::kWhole};
  return true;
}

}  // namespace

OriginPool::OriginPool() {
  intern(unknown_origin());
  intern({});
  Origin null;
  null.is_null = true;
  intern(null);
}

OriginId OriginPool::intern(Origin origin) {
  if (origin.sources.size() > kMaxSources) origin = unknown_origin();
  std::ranges::sort(origin.sources);
  const auto [entry, is_new] =
      ids_.try_emplace(std::move(origin), static_cast<OriginId>(origins_.size()));
  if (is_new) origins_.push_back(entry->first);
  return entry->second;
}

template <typename Compute>
OriginId OriginPool::memo(Op op, OriginId a, OriginId b, Compute compute) {
  if (a == kUnknown || b == kUnknown) return kUnknown;
  auto& known = memo_[static_cast<std::size_t>(op)];
  const std::uint64_t key = std::uint64_t{a} << 32 | b;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  Origin result;
  compute(origins_[a], origins_[b], result.sources);
  const OriginId id = intern(std::move(result));
  known.emplace(key, id);
  return id;
}

OriginId OriginPool::of(const AddressSource& source) {
  Origin origin;
  insert(origin.sources, source, AddressSource::kWhole);
  origin.is_exact = is_one_value(source);
  return intern(std::move(origin));
}

OriginId OriginPool::loaded(bool is_narrow) {
  Origin origin;
  origin.sources.push_back({.kind = SourceKind::kLoaded,
                            .ways = is_narrow ? AddressSource::kLow : AddressSource::kWhole});
  return intern(std::move(origin));
}

OriginId OriginPool::widen(OriginId a) {
  if (a == kUnknown) return kUnknown;
  Origin result = origins_[a];
  for (AddressSource& source : result.sources) {
    if (source.kind == SourceKind::kLoaded && source.ways == AddressSource::kLow) {
      source.ways = AddressSource::kWhole;
    }
  }
  return intern(std::move(result));
}

OriginId OriginPool::add(OriginId a, OriginId b) {
  return memo(Op::kAdd, a, b, [](const Origin& x, const Origin& y, auto& out) {
    out = x.sources;
    for (const AddressSource& source : y.sources) insert(out, source, source.ways);
  });
}

OriginId OriginPool::subtract(OriginId a, OriginId b) {
  return memo(Op::kSubtract, a, b, [](const Origin& x, const Origin& y, auto& out) {
    out = x.sources;
    for (const AddressSource& source : y.sources) {
      AddressSource* const same = find(out, source);
      const bool cancels = same != nullptr && goes_out(source) &&
                           source.ways == AddressSource::kWhole &&
                           (same->ways & AddressSource::kWhole) != 0;
      if (source.kind == SourceKind::kLoaded) {
        insert(out, source, taken_away(source));
      } else if (!cancels) {
        insert(out, source, AddressSource::kMixed);
      } else if (same->ways == AddressSource::kWhole) {
        out.erase(out.begin() + (same - out.data()));
      } else {
        same->ways &= static_cast<Ways>(~AddressSource::kWhole);
      }
    }
  });
}

OriginId OriginPool::mix(OriginId a, OriginId b) {
  return memo(Op::kMix, a, b, [](const Origin& x, const Origin& y, auto& out) {
    for (const Origin* const origin : {&x, &y}) {
      for (AddressSource source : origin->sources) {
        if (source.kind == SourceKind::kLoaded) {
          mix_load(out, source);
          continue;
        }
        source.ways = AddressSource::kMixed;
        if (find(out, source) == nullptr) out.push_back(source);
      }
    }
  });
}

OriginId OriginPool::toggle(OriginId a, OriginId b) {
  return memo(Op::kToggle, a, b, [](const Origin& x, const Origin& y, auto& out) {
    for (const Origin* const origin : {&x, &y}) {
      for (AddressSource source : origin->sources) {
        if (source.kind == SourceKind::kLoaded) {
          mix_load(out, source);
          continue;
        }
        const bool keeps = tells_low_bits(source);
        source.ways =
            static_cast<Ways>(AddressSource::kMixed | (keeps ? AddressSource::kBitwise : Ways{}));
        if (AddressSource* const same = find(out, source)) {
          same->ways = AddressSource::kMixed;
        } else {
          out.push_back(source);
        }
      }
    }
  });
}

OriginId OriginPool::half(OriginId a, Ways way) {
  if (a == kUnknown) return kUnknown;
  Origin result;
  for (AddressSource source : origins_[a].sources) {
    if (source.kind != SourceKind::kLoaded) {
      source.ways = source.ways == AddressSource::kWhole ? way : AddressSource::kMixed;
    }
    result.sources.push_back(source);
  }
  result.is_exact_half = origins_[a].is_exact;
  return intern(std::move(result));
}

OriginId OriginPool::low(OriginId a) {
  return half(a, AddressSource::kLow);
}

OriginId OriginPool::high(OriginId a) {
  return half(a, AddressSource::kHigh);
}

// Halves of one address make it whole. If a number was added before it was halved, or to its lower
// half, a carry may be missing: that shows how the half compares with the number.
OriginId OriginPool::join_halves(OriginId low, OriginId high) {
  const Origin &bottom = origins_[low], &top = origins_[high];
  AddressSource given;
  if (bottom.is_exact && top.is_exact && are_words_of(bottom.sources[0], top.sources[0], given)) {
    return of(given);
  }
  if (bottom.is_exact_half && top.is_exact_half && are_halves(bottom.sources[0], top.sources[0])) {
    return of(bottom.sources[0]);
  }
  return memo(Op::kJoinHalves, low, high, [](const Origin& x, const Origin& y, auto& out) {
    std::vector<AddressSource> upper = y.sources;
    for (const AddressSource& source : x.sources) {
      AddressSource whole;
      const auto other = std::ranges::find_if(upper, [&](const AddressSource& half) {
        if (are_words_of(source, half, whole)) return true;
        whole = source;
        whole.ways = AddressSource::kWhole;
        return are_halves(source, half);
      });
      if (other == upper.end()) {
        insert(out, source, AddressSource::kMixed);
      } else {
        upper.erase(other);
        const Ways carry = is_one_value(whole) ? AddressSource::kMixed : Ways{};
        insert(out, whole, static_cast<Ways>(AddressSource::kWhole | carry));
      }
    }
    for (const AddressSource& source : upper) insert(out, source, AddressSource::kMixed);
  });
}

OriginId OriginPool::low_bits(OriginId a) {
  if (a == kUnknown) return kUnknown;
  Origin result;
  for (AddressSource source : origins_[a].sources) {
    if (tells_low_bits(source)) continue;
    if (source.kind != SourceKind::kLoaded) source.ways = AddressSource::kMixed;
    result.sources.push_back(source);
  }
  return intern(std::move(result));
}

OriginId OriginPool::compare(OriginId a, OriginId b) {
  const auto is_fixed = [&](OriginId id) { return id == kNull || origins_[id].is_exact; };
  if (is_fixed(a) && is_fixed(b)) return kNumber;
  const OriginId outcome = mix(subtract(a, b), kNumber);
  // Either operand may be the greater one, and what was loaded is not taken away from anything.
  const OriginId both = mix(a, b);
  if (both == kUnknown) return kUnknown;
  Origin result = origins_[outcome];
  for (AddressSource& source : result.sources) {
    source.ways = std::ranges::find_if(origins_[both].sources, [&](const AddressSource& other) {
                    return other.is_same(source);
                  })->ways;
  }
  return intern(std::move(result));
}

OriginId OriginPool::property(OriginId a) {
  return origins_[a].is_exact ? kNumber : mix(a, kNumber);
}

OriginId OriginPool::index_of(OriginId address) {
  if (address == kUnknown) return kUnknown;
  const std::vector<AddressSource>& sources = origins_[address].sources;
  const auto is_whole = [](const AddressSource& source) {
    return source.kind != SourceKind::kLoaded && source.ways == AddressSource::kWhole;
  };
  // One address that is added is the place that is indexed.
  const bool has_base = std::ranges::count_if(sources, is_whole) == 1;
  Origin result;
  for (AddressSource source : sources) {
    if (has_base && is_whole(source)) continue;
    if (source.kind != SourceKind::kLoaded) source.ways = AddressSource::kMixed;
    result.sources.push_back(source);
  }
  return intern(std::move(result));
}

bool OriginPool::loads_differ(OriginId a) const {
  return std::ranges::any_of(origins_[a].sources, [](const AddressSource& source) {
    return source.kind == SourceKind::kLoaded && (source.ways & AddressSource::kMixed) != 0;
  });
}

bool OriginPool::covers(OriginId all, OriginId part) const {
  return std::ranges::all_of(origins_[part].sources, [&](const AddressSource& source) {
    return std::ranges::any_of(origins_[all].sources, [&](const AddressSource& other) {
      if (!other.is_same(source)) return false;
      if (source.kind != SourceKind::kLoaded) return other.ways == AddressSource::kMixed;
      return (other.ways & AddressSource::kMixed) != 0 || (source.ways & ~other.ways) == 0;
    });
  });
}

OriginId OriginPool::collapse(const OriginSet& set) {
  OriginId all = kNumber;
  for (const OriginId id : set) all = mix(all, id);
  return all;
}

bool OriginPool::join(OriginSet& into, OriginId origin) {
  const auto at = std::ranges::lower_bound(into, origin);
  if (at != into.end() && *at == origin) return false;
  if (!into.empty() && into.front() == kUnknown) return false;
  if (origin == kUnknown) {
    into = {kUnknown};
    return true;
  }
  if (into.size() >= kMaxOrigins) {
    const bool is_covered =
        std::ranges::any_of(into, [&](OriginId old) { return covers(old, origin); });
    if (is_covered) return false;
    into.insert(at, origin);
    into = {collapse(into)};
    return true;
  }
  into.insert(at, origin);
  return true;
}

bool OriginPool::join(OriginSet& into, const OriginSet& more) {
  bool grew = false;
  for (const OriginId id : more) grew |= join(into, id);
  return grew;
}

}  // namespace baton::overlap
