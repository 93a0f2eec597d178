#include "edges/judged_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "edges/judgement.h"
#include "program/buffer_roles.h"

namespace baton::edges {
namespace {

struct GivenRange {
  DeviceAddress begin = 0, end = 0;
};

// The memory that callers gave, in ascending order. Ranges that overlap are joined.
std::vector<GivenRange> join_overlapping(const bind::BufferTable& buffers) {
  std::vector<GivenRange> given;
  for (const bind::BoundBuffer& buffer : buffers) {
    if (buffer.given && buffer.bytes != 0) {
      given.push_back({*buffer.given, *buffer.given + buffer.bytes});
    }
  }
  std::ranges::sort(given, {}, &GivenRange::begin);
  std::vector<GivenRange> joined;
  for (const GivenRange& range : given) {
    if (!joined.empty() && range.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

const GivenRange& range_of(const std::vector<GivenRange>& ranges, DeviceAddress address) {
  return *std::prev(std::ranges::upper_bound(ranges, address, {}, &GivenRange::begin));
}

// Whether a range that is not the buffer's own shares the part of an alignment with it.
bool has_neighbours(const std::vector<GivenRange>& ranges, const bind::BoundBuffer& buffer) {
  if (!buffer.given || buffer.bytes == 0) return false;
  const GivenRange* const own = &range_of(ranges, *buffer.given);
  const auto meets = [own](const GivenRange& other) {
    return may_lead_to(own->begin, own->end - own->begin, other.begin, other.end - other.begin);
  };
  return (own != &ranges.front() && meets(own[-1])) || (own != &ranges.back() && meets(own[1]));
}

}  // namespace

JudgedMemory::JudgedMemory(const bind::BufferTable& buffers, load::Footprints& footprints)
    : buffers_(buffers), footprints_(footprints) {
  // Buffers of one variable are one memory, and so are buffers whose memory overlaps. Such memory
  // is constant only if all of its buffers are.
  const std::vector<GivenRange> ranges = join_overlapping(buffers);
  std::map<DeviceAddress, overlap::MemoryId> joined;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const ProgramBuffer& definition = *buffers[i].definition;
    const auto fresh = static_cast<overlap::MemoryId>(facts_.size());
    MemoryPlace start{fresh, 0};
    if (const std::optional<ModuleVariable>& variable = definition.variable) {
      const auto symbol = footprints_.variable_symbol(variable->kernel, variable->name);
      start.memory = variable_id(variable->kernel, std::string(symbol), fresh);
    } else if (buffers[i].given && buffers[i].bytes != 0) {
      const DeviceAddress begin = range_of(ranges, *buffers[i].given).begin;
      start = {joined.try_emplace(begin, fresh).first->second, *buffers[i].given - begin};
    }
    const bool is_constant = facts_of(definition.role).is_constant;
    starts_.push_back(start);
    has_neighbours_.push_back(has_neighbours(ranges, buffers[i]));
    if (start.memory == fresh) {
      const bool is_read_only = (is_constant || definition.role == BufferRole::kInput) &&
                                !definition.variable && !buffers[i].given;
      facts_.push_back({definition.name, is_constant, is_read_only ? &definition : nullptr});
    } else {
      Facts& shared = facts_[start.memory];
      shared.is_constant &= is_constant;
      if (!definition.variable) shared.name += " and " + definition.name;
    }
  }
  set_counters();
}

// Memory that several buffers are, and rows that may share a line of a cache, have no frozen rows:
// an early read would also bring a part of a row that is still to be written.
void JudgedMemory::set_counters() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const std::optional<FrozenRows>& frozen = buffers_[i].definition->frozen;
    if (!frozen || bind::row_bytes(buffers_[i]) % kCacheLine != 0) continue;
    if (buffers_[i].given && !suits_frozen_rows(*buffers_[i].given)) continue;
    const auto is_here = [&](const MemoryPlace& start) {
      return start.memory == starts_[i].memory;
    };
    if (std::ranges::count_if(starts_, is_here) != 1) continue;
    facts_[starts_[i].memory].counter =
        starts_[bind::buffer_index(buffers_, frozen->counter)].memory;
  }
}

overlap::MemoryId JudgedMemory::variable_id(const std::string& kernel, const std::string& name,
                                            overlap::MemoryId fresh) {
  return variables_.try_emplace({footprints_.module_number(kernel), name}, fresh).first->second;
}

overlap::MemoryId JudgedMemory::variable(const std::string& kernel, std::string_view name,
                                         bool constant) {
  const auto fresh = static_cast<overlap::MemoryId>(facts_.size());
  const overlap::MemoryId id = variable_id(kernel, std::string(name), fresh);
  // Kernels write constant memory only by its address, which they get from a buffer.
  if (id == fresh) facts_.push_back({fmt::format("the variable {}", name), constant, nullptr});
  return id;
}
overlap::GivenArgument JudgedMemory::given(const bind::LaunchExecution& execution,
                                           std::size_t index) const {
  overlap::GivenArgument out;
  const bind::ArgumentPart* const argument = execution.launch.args[index].single();
  if (argument == nullptr) {
    out.kind = overlap::GivenArgument::Kind::kStruct;
    for (const bind::PlannedArgument::Part& part : execution.launch.args[index].parts()) {
      // The 128 bytes of a tensor map by value are not followed.
      if (part.value.is_tensor_map()) return {};
      const auto* const place =
          static_cast<const std::byte*>(execution.arguments[index]) + part.position;
      std::uint64_t bits = 0;
      const bool is_number = part.value.size() <= sizeof(bits);
      if (is_number) std::memcpy(&bits, place, part.value.size());
      if (part.value.buffer()) {
        out.has_neighbours = out.has_neighbours || has_neighbours_[*part.value.buffer()];
        const MemoryPlace& start = starts_[*part.value.buffer()];
        const std::uint64_t offset = bits - buffers_[*part.value.buffer()].address();
        out.fields.push_back({part.position, start.memory, start.offset + offset});
      } else if (is_number && !part.value.is_raw()) {
        out.numbers.push_back({part.position, part.value.size(), bits});
      }
    }
    return out;
  }
  if (argument->buffer()) {
    out.kind = argument->is_tensor_map() ? overlap::GivenArgument::Kind::kTensorMap
                                         : overlap::GivenArgument::Kind::kMemory;
    const MemoryPlace& start = starts_[*argument->buffer()];
    out.has_neighbours = has_neighbours_[*argument->buffer()];
    out.memory = start.memory;
    out.offset = start.offset + execution.places[index].offset;
    out.bytes = execution.places[index].bytes.value_or(overlap::kUnknownBytes);
    return out;
  }
  // Bytes that a program writes out hold no address: it knows none.
  out.kind = overlap::GivenArgument::Kind::kScalar;
  if (!argument->is_raw() && argument->size() <= sizeof(std::uint64_t)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, execution.arguments[index], argument->size());
    out.bits = bits;
  }
  return out;
}

overlap::GivenArgument JudgedMemory::possible(const bind::PlannedLaunch& launch,
                                              std::size_t index) const {
  overlap::GivenArgument out;
  const bind::ArgumentPart* const argument = launch.args[index].single();
  if (argument == nullptr) {
    out.kind = overlap::GivenArgument::Kind::kStruct;
    for (const bind::PlannedArgument::Part& part : launch.args[index].parts()) {
      if (part.value.is_tensor_map()) return {};
      if (!part.value.buffer()) continue;
      out.has_neighbours = out.has_neighbours || has_neighbours_[*part.value.buffer()];
      out.fields.push_back(
          {part.position, starts_[*part.value.buffer()].memory, overlap::kUnknownOffset});
    }
    return out;
  }
  if (!argument->buffer()) {
    out.kind = overlap::GivenArgument::Kind::kScalar;
    return out;
  }
  out.kind = argument->is_tensor_map() ? overlap::GivenArgument::Kind::kTensorMap
                                       : overlap::GivenArgument::Kind::kMemory;
  out.has_neighbours = has_neighbours_[*argument->buffer()];
  out.memory = starts_[*argument->buffer()].memory;
  out.offset = overlap::kUnknownOffset;
  out.bytes = overlap::kUnknownBytes;
  return out;
}

overlap::MemoryId JudgedMemory::shared() {
  if (!shared_) {
    shared_ = static_cast<overlap::MemoryId>(facts_.size());
    Facts& facts = facts_.emplace_back();
    facts.name = "memory that the ranks write for each other";
    facts.is_shared = true;
  }
  return *shared_;
}
}  // namespace baton::edges
