#include "pdl/footprint/address_binder.h"

#include <algorithm>

namespace baton::overlap {
namespace {

using Argument = GivenArgument::Kind;

// Of a tensor map.
constexpr std::uint32_t kMapBytes = 128;

// No device has memory below it: numbers of 32 bits are not addresses.
constexpr std::uint64_t kLowestAddress = std::uint64_t{1} << 32;

bool is_place_of_no_buffer(SourceKind kind) {
  return kind == SourceKind::kParamSpace || kind == SourceKind::kShared ||
         kind == SourceKind::kLocal;
}

// Whether it is what lies at such a position of a parameter, or overlaps it.
bool overlaps(const AddressSource& source, std::uint32_t position, std::uint32_t bytes) {
  if (source.offset == AddressSource::kAnyOffset) return true;
  const std::uint64_t word = source.offset & ~7u;
  return word <= ((std::uint64_t{position} + bytes - 1) & ~std::uint64_t{7}) &&
         word >= (position & ~7u);
}

// The number that a launch gives the 64 bits there, if it gives one.
std::optional<std::uint64_t> bits_of(const GivenArgument& given, std::uint32_t offset) {
  if (given.kind != Argument::kStruct) return offset == 0 ? given.bits : std::nullopt;
  for (const GivenArgument::Number& number : given.numbers) {
    if (number.position == offset && number.bytes == sizeof(std::uint64_t)) return number.bits;
  }
  return std::nullopt;
}

using Places = std::pmr::vector<TouchedMemory::Place>;

void add_once(Places& into, const TouchedMemory::Place& place) {
  const bool is_known =
      std::ranges::any_of(into, [&](const auto& each) { return each.is_same(place); });
  if (!is_known) into.push_back(place);
}

// What an address of the place leads to: the place if it is bounded, else the whole memory.
TouchedMemory::Place piece_of(const TouchedMemory::Place& place) {
  return place.bytes != kUnknownBytes ? place : TouchedMemory::Place{place.memory};
}

// With alignments of addresses a kernel can get from a view to all views of the same 256 bytes.
TouchedMemory::Place with_neighbours(TouchedMemory::Place place) {
  constexpr std::uint64_t kReach = kAllocationAlignment - 1;
  if (place.bytes == kUnknownBytes) return place;
  const std::uint64_t before = std::min(place.offset, kReach);
  place.offset -= before;
  place.bytes += before + kReach;
  return place;
}

}  // namespace

// What a source is with the launch's arguments.
struct AddressBinder::Content {
  explicit Content(std::pmr::memory_resource* scratch) : places(scratch) {}
  Places places;  // empty: a number
  std::optional<UnknownAddress> unknown;
};

// The pieces of memory whose addresses have gone into a value, with the launch's arguments.
struct AddressBinder::Mixture {
  explicit Mixture(std::pmr::memory_resource* scratch) : pieces(scratch), elsewhere(scratch) {}
  Places pieces;
  std::pmr::vector<AddressSource> elsewhere;  // in memory that is not a buffer's
  bool loaded = false, loaded_wide = false;   // values of 64 bits
  // The difference of two loaded values of 64 bits may be that of two addresses.
  bool loads_differ = false;
  bool only_whole = true;  // each address is added, once
  std::uint64_t offset = kUnknownOffset;
  std::uint32_t argument = kNoArgument;  // whose offset it is
  std::optional<UnknownAddress> unknown;

  std::size_t count() const { return pieces.size() + elsewhere.size(); }
};

AddressBinder::Content AddressBinder::content(const AddressSource& source) const {
  Content found(&scratch_);
  if (source.kind == SourceKind::kVariable || source.kind == SourceKind::kConst) {
    const std::string& name = footprint_.code->variables[source.id];
    found.places.push_back({variable_(name, source.kind == SourceKind::kConst), 0});
    return found;
  }
  if (source.id >= arguments_.size()) {
    found.unknown = UnknownAddress::kNoParameter;
    return found;
  }
  const GivenArgument& given = arguments_[source.id];
  switch (given.kind) {
    case Argument::kScalar:
      return found;
    case Argument::kMemory:
      // Nothing but the address lies there.
      if (source.kind == SourceKind::kParam && source.offset != 0) {
        found.unknown = UnknownAddress::kNoParameter;
      } else {
        found.places.push_back({given.memory, given.offset, given.bytes, source.id});
      }
      return found;
    case Argument::kStruct:
      for (const GivenArgument::Field& field : given.fields) {
        if (overlaps(source, field.position, sizeof(std::uint64_t))) {
          found.places.push_back({field.memory, kUnknownOffset});
        }
      }
      // The bits of a map may tell the address of its tensor.
      for (const GivenArgument::Field& map : given.maps) {
        if (overlaps(source, map.position, kMapBytes)) found.unknown = UnknownAddress::kStruct;
      }
      return found;
    case Argument::kBytes:
    case Argument::kTensorMap:
      break;
  }
  found.unknown = UnknownAddress::kStruct;
  return found;
}

AddressBinder::Mixture AddressBinder::mixture(const Origin& origin) const {
  Mixture out(&scratch_);
  if (origin.is_unknown) out.unknown = UnknownAddress::kManyOrigins;
  for (const AddressSource& source : origin.sources) {
    if (source.kind == SourceKind::kLoaded) {
      out.loaded = true;
      out.loaded_wide = (source.ways & ~AddressSource::kLow) != 0;
      out.loads_differ = (source.ways & AddressSource::kMixed) != 0;
      continue;
    }
    const bool is_whole =
        source.ways == AddressSource::kWhole && source.kind != SourceKind::kParamWord;
    if (is_place_of_no_buffer(source.kind)) {
      out.elsewhere.push_back(source);
      out.only_whole = out.only_whole && is_whole;
      continue;
    }
    const Content found = content(source);
    if (found.unknown) out.unknown = found.unknown;
    if (found.places.empty()) continue;
    const bool is_only = out.pieces.empty() && found.places.size() == 1 && is_whole;
    out.offset = is_only ? found.places[0].offset : kUnknownOffset;
    out.argument = is_only ? found.places[0].argument : kNoArgument;
    out.only_whole = out.only_whole && is_whole;
    for (const TouchedMemory::Place& place : found.places) add_once(out.pieces, piece_of(place));
  }
  return out;
}

// Whether a comparison with it may tell more of an address than that it is one. Halves of addresses
// may be any numbers.
bool AddressBinder::may_lie_among_addresses(const AddressSource& number) const {
  if (number.id >= arguments_.size()) return true;
  const std::uint32_t first = number.offset & ~7u;
  const std::optional<std::uint64_t> bits = bits_of(arguments_[number.id], first);
  if (!bits) return true;
  return *bits >= (number.kind == SourceKind::kParamWord ? 1 : kLowestAddress);
}

// Comparisons of an address with many numbers tell it bit by bit, as conditions do.
void AddressBinder::note_compared(const AddressSource& source, const AddressSource& other) {
  const bool is_given = other.kind == SourceKind::kParam || other.kind == SourceKind::kParamWord;
  if (!is_given) return;
  const Content compared = content(other);
  const bool may_be_number =
      compared.unknown || (compared.places.empty() && may_lie_among_addresses(other));
  if (!may_be_number) return;
  if (is_place_of_no_buffer(source.kind)) {
    places_decide_ = true;
    return;
  }
  const Content told = content(source);
  if (told.unknown) decided_by_unknown_ = UnknownAddress::kDecided;
  for (const TouchedMemory::Place& place : told.places) add_once(deciding_, piece_of(place));
}

AddressBinder::AddressBinder(const Footprint& footprint, std::span<const GivenArgument> arguments,
                             const VariableNumber& variable, LoadedValue loaded)
    : footprint_(footprint),
      arguments_(arguments),
      variable_(variable),
      loads_indexes_(loaded != LoadedValue::kDifference) {
  for (const Origin& origin : footprint.conditions) {
    const Mixture found = mixture(origin);
    if (found.unknown) decided_by_unknown_ = found.unknown;
    loads_decide_ = loads_decide_ || found.loaded;
    wide_loads_decide_ = wide_loads_decide_ || found.loaded_wide;
    places_decide_ = places_decide_ || !found.elsewhere.empty();
    for (const TouchedMemory::Place& piece : found.pieces) add_once(deciding_, piece);
  }
  for (const auto& [first, second] : footprint.compared) {
    note_compared(first, second);
    note_compared(second, first);
  }
  // A stored value may tell an address that decides a condition. So may the fact that it is stored.
  stores_differences_ = !deciding_.empty();
  // The difference of a loaded address and a known one leads from this one to anywhere.
  if (loads_decide_ && !deciding_.empty()) decided_by_unknown_ = UnknownAddress::kDecided;
  for (const Origin& origin : footprint.aligned) {
    tells_alignment_ = tells_alignment_ || !mixture(origin).pieces.empty();
  }
  leads_beside_ =
      tells_alignment_ && std::ranges::any_of(arguments, &GivenArgument::has_neighbours);
  const auto tells_of_a_buffer = [&](const Origin& origin) {
    const Mixture found = mixture(origin);
    return found.unknown || !found.pieces.empty();
  };
  // The block may copy an address from its memory to a buffer. The alignments of two close buffers
  // tell their distance.
  stores_differences_ = stores_differences_ || leads_beside_ ||
                        std::ranges::any_of(footprint.left, tells_of_a_buffer);
  const bool is_followed = loaded == LoadedValue::kFollowed;
  loads_indexes_ =
      loads_indexes_ && !std::ranges::any_of(is_followed ? footprint.left_in_block : footprint.left,
                                             tells_of_a_buffer);
  for (const Origin& origin : footprint.stored) {
    const Mixture found = mixture(origin);
    const bool is_one_place = found.count() == 1 && found.only_whole;
    if (found.pieces.empty() && !found.unknown) {
      // Places of the block tell of no buffer. Their numbers lead from such a place to anywhere.
      places_decide_ = places_decide_ || (found.count() != 0 && (!is_one_place || found.loaded));
      continue;
    }
    loads_indexes_ = loads_indexes_ && is_one_place && !found.loaded && !found.unknown;
    stores_differences_ =
        stores_differences_ || found.unknown || (!found.pieces.empty() && !is_one_place);
  }
}

// A null pointer, with what the kernel adds to one: no access goes through it.
bool AddressBinder::is_null(const Origin& origin) const {
  bool found = false;
  for (const AddressSource& source : origin.sources) {
    if (source.kind != SourceKind::kParam || source.id >= arguments_.size()) return false;
    const std::optional<std::uint64_t> bits = bits_of(arguments_[source.id], source.offset);
    if (!bits || *bits >= kLowestAddress) return false;
    found = found || (*bits == 0 && source.ways == AddressSource::kWhole);
  }
  return found;
}

void AddressBinder::bind_origin(const AccessGroup& access, const Origin& origin,
                                TouchedMemory& out) const {
  Mixture found = mixture(origin);
  if (found.unknown || decided_by_unknown_) {
    out.unknown = found.unknown ? found.unknown : decided_by_unknown_;
    return;
  }
  if (found.count() == 0) {
    if (found.loaded) {
      out.unknown = UnknownAddress::kLoaded;
      return;
    }
    out.by_value = true;
    // Conditions on parts of 32 bits can put together an address that is loaded.
    const bool is_told = wide_loads_decide_ || (loads_decide_ && !loads_indexes_);
    if (!deciding_.empty() || is_told || !is_null(origin)) {
      out.unknown = origin.is_null           ? UnknownAddress::kConstant
                    : origin.sources.empty() ? UnknownAddress::kComputed
                                             : UnknownAddress::kNoBuffer;
    }
    return;
  }
  for (const TouchedMemory::Place& piece : deciding_) add_once(found.pieces, piece);
  const bool is_one = found.count() == 1;
  const bool is_loaded = found.loaded || loads_decide_;
  // The difference of a loaded address and a known one leads from this one to anywhere. Conditions
  // may have told the known one as a number.
  const bool is_told = !deciding_.empty() || (places_decide_ && !found.elsewhere.empty());
  const bool is_index = loads_indexes_ && !found.loads_differ && !is_told;
  if (is_loaded && !(is_one && found.only_whole && is_index)) {
    out.unknown = found.loaded ? UnknownAddress::kLoaded : UnknownAddress::kDecided;
    return;
  }
  if (!found.elsewhere.empty() && !access.generic) out.unknown = UnknownAddress::kOtherSpace;
  if (leads_beside_ && !found.pieces.empty()) out.unknown = UnknownAddress::kBeside;
  for (TouchedMemory::Place place : found.pieces) {
    if (is_one && place.bytes == kUnknownBytes) {
      place.offset = found.offset;
      place.argument = found.argument;
    }
    add_once(out.places, tells_alignment_ ? with_neighbours(place) : place);
  }
}

// A tensor map is a parameter itself, at its own address, or any of those in a struct. One in
// memory may be of anything, and so may what lies after a parameter.
void AddressBinder::bind_map(const Origin& origin, TouchedMemory& out) const {
  const auto is_map = [&](const AddressSource& source) {
    return source.kind == SourceKind::kParamSpace && source.ways == AddressSource::kWhole &&
           source.id < arguments_.size();
  };
  if (origin.is_unknown || origin.sources.size() != 1 || !is_map(origin.sources[0]) ||
      !deciding_.empty() || decided_by_unknown_) {
    out.unknown = UnknownAddress::kMap;
    return;
  }
  const GivenArgument& given = arguments_[origin.sources[0].id];
  if (given.kind == Argument::kStruct && !given.maps.empty() && !given.may_have_other_maps) {
    for (const GivenArgument::Field& map : given.maps) {
      add_once(out.places, {map.memory, kUnknownOffset});
    }
    return;
  }
  if (given.kind != Argument::kTensorMap || !origin.is_exact) {
    out.unknown = UnknownAddress::kStruct;
    return;
  }
  add_once(out.places, {given.memory, given.offset, kUnknownBytes, origin.sources[0].id});
}

TouchedMemory AddressBinder::touched(const AccessGroup& access) const {
  TouchedMemory out{.places = std::pmr::vector<TouchedMemory::Place>(&scratch_)};
  if (access.origins.empty()) out.unknown = UnknownAddress::kNoOrigin;
  for (const Origin& origin : access.origins) {
    // A null pointer that is chosen in place of another one.
    if (origin.is_null && access.origins.size() > 1) continue;
    if (access.by_map) {
      bind_map(origin, out);
    } else {
      bind_origin(access, origin, out);
    }
  }
  return out;
}

}  // namespace baton::overlap
