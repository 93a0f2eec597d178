#include "record/memory_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "record/call_meaning.h"

namespace baton::record {
namespace {

using overlap::GivenArgument;

// Drivers place what a process has side by side: a word further than this from all allocations is
// not an address.
constexpr std::uint64_t kNear = std::uint64_t{1} << 40;
// No device has memory below.
constexpr std::uint64_t kLeastAddress = 1 << 16;

constexpr std::size_t kTensorMapBytes = sizeof(TensorMapNote::map);
constexpr std::size_t kMapAlignment = 64;

std::string_view bytes_of(const std::uint8_t (&map)[kTensorMapBytes]) {
  return {reinterpret_cast<const char*>(map), kTensorMapBytes};
}

// The bytes from the first element of the map's tensor to the end of its last one, or 0 if the note
// does not tell.
std::uint64_t bytes_of_tensor(const TensorMapNote& note) {
  // By CUtensorMapDataType; of the last three, which pack 16 elements, at most.
  constexpr std::array<std::uint8_t, 16> kElementBytes = {1, 2, 4, 4, 8, 8, 2, 4,
                                                          8, 2, 4, 4, 4, 1, 1, 1};
  if (note.kind != TensorMapKind::kTiled || note.type >= kElementBytes.size()) return 0;
  if (note.rank == 0 || note.rank > std::size(note.dims)) return 0;
  // No memory is that large, and a few of them are not overflow.
  constexpr std::uint64_t kMost = UINT64_MAX / 8;
  const auto product = [](std::uint64_t count, std::uint64_t bytes) {
    return bytes != 0 && count > kMost / bytes ? kMost : count * bytes;
  };
  std::uint64_t bytes = product(note.dims[0], kElementBytes[note.type]);
  for (std::uint32_t k = 1; k < note.rank; ++k) {
    if (note.dims[k] == 0) return 0;
    bytes += product(note.dims[k] - 1, note.strides[k - 1]);
  }
  return bytes;
}

// Whether a tensor map may lie in that part of a struct. What is in a map is the driver's secret,
// but zeros are none.
bool may_hold_map(std::string_view bytes, std::size_t from, std::size_t end) {
  from = (from + kMapAlignment - 1) / kMapAlignment * kMapAlignment;
  for (; from + kTensorMapBytes <= end; from += kMapAlignment) {
    const std::string_view window = bytes.substr(from, kTensorMapBytes);
    if (window.find_first_not_of('\0') != std::string_view::npos) return true;
  }
  return false;
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(sizeof word, bytes.size() - at));
  return word;
}

}  // namespace

void MemoryMap::allocate(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 || bytes == 0 || address + bytes < address) return;
  // What was there has ended, if the record does not say how.
  auto at = ranges_.upper_bound(address);
  if (at != ranges_.begin() && std::prev(at)->second.end > address) --at;
  while (at != ranges_.end() && at->first < address + bytes) at = ranges_.erase(at);
  const auto id = static_cast<overlap::MemoryId>(memories_.size());
  memories_.push_back({fmt::format("allocation {} ({} bytes)", allocations_++, bytes)});
  ranges_[address] = {address + bytes, id, false};
  least_ = std::min(least_, address);
  most_ = std::max(most_, address + bytes);
}

void MemoryMap::map(std::uint64_t address, std::uint64_t handle) {
  const auto [first, last] = mapped_.equal_range(handle);
  const bool again = first != last;
  for (auto each = first; each != last; ++each) {
    if (const auto* range = find(each->second)) ranges_[range->first].shared = true;
  }
  if (const auto* range = find(address); range != nullptr && again) {
    ranges_[range->first].shared = true;
  }
  mapped_.emplace(handle, address);
}

void MemoryMap::note_map(const RecordedEvent& event) {
  const TensorMapNote note = tensor_map_of(event);
  MappedTensor tensor{note.address, bytes_of_tensor(note), {}};
  if (note.kind == TensorMapKind::kReplaced) {
    // A map that was not recorded may be of a tensor of any size.
    const MappedTensor* const from = mapped_tensor(bytes_of(note.from));
    tensor.bytes = from == nullptr ? 0 : from->bytes;
  }
  if (const auto* range = find(tensor.address)) tensor.memory_id = range->second.id;
  tensor_maps_[std::string(bytes_of(note.map))] = tensor;
}

const MemoryMap::MappedTensor* MemoryMap::mapped_tensor(std::string_view bytes) const {
  if (tensor_maps_.empty() || bytes.size() < kTensorMapBytes) return nullptr;
  const auto found = tensor_maps_.find(bytes.substr(0, kTensorMapBytes));
  return found == tensor_maps_.end() ? nullptr : &found->second;
}

void MemoryMap::follow(const RecordedEvent& call) {
  if (call.kind == EventKind::kTensorMap) return note_map(call);
  const RecordedCall* const row = find_call(call.function);
  if (row == nullptr) return;
  // A free that has not returned may have happened.
  const bool done = call.succeeded() || call.result == kNotReturned;
  if (!done) return;
  if (row->meaning == CallMeaning::kAllocate) {
    allocate(call.word(0), call.word(1));
  } else if (row->meaning == CallMeaning::kAllocatePitch) {
    allocate(call.word(0), call.word(1) * call.word(3));
  } else if (row->meaning == CallMeaning::kFree) {
    ranges_.erase(call.word(0));
  } else if (row->meaning == CallMeaning::kMap) {
    map(call.word(0), call.word(3));
  } else if (row->meaning == CallMeaning::kUnmap) {
    std::erase_if(mapped_, [&](const auto& each) { return each.second == call.word(0); });
  }
}

const std::pair<const std::uint64_t, MemoryMap::Range>* MemoryMap::find(
    std::uint64_t address) const {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return nullptr;
  --at;
  return address < at->second.end ? &*at : nullptr;
}

const std::pair<const std::uint64_t, MemoryMap::Range>* MemoryMap::find(
    const MappedTensor& tensor) const {
  const auto* const range = find(tensor.address);
  if (range == nullptr || range->second.shared) return nullptr;
  // Where the address was given again, the tensor may reach into what now lies beside it.
  const bool is_inside = tensor.bytes != 0 ? tensor.bytes <= range->second.end - tensor.address
                                           : tensor.memory_id == range->second.id;
  return is_inside ? range : nullptr;
}

bool MemoryMap::may_be_address(std::uint64_t word) const {
  if (word < kLeastAddress || least_ > most_) return false;
  return word + kNear >= least_ && word <= most_ + kNear;
}

overlap::MemoryId MemoryMap::variable(std::uint64_t module, std::string_view name, bool constant) {
  const auto [at, is_new] = variables_.try_emplace(
      {module, std::string(name)}, static_cast<overlap::MemoryId>(memories_.size()));
  if (is_new) memories_.push_back({fmt::format("the variable {}", name), constant});
  return at->second;
}

GivenArgument MemoryMap::argument(std::string_view bytes, bool is_pointer) const {
  if (bytes.size() < sizeof(std::uint64_t)) return GivenArgument::scalar(word_at(bytes, 0));
  if (bytes.size() == sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(bytes, 0);
    if (const auto* range = find(word)) {
      if (range->second.shared) return {};
      return GivenArgument::pointer(range->second.id, word - range->first);
    }
    if (may_be_address(word) || (is_pointer && word != 0)) return {};
    return GivenArgument::scalar(word);
  }
  if (const auto* tensor = mapped_tensor(bytes);
      tensor != nullptr && bytes.size() == kTensorMapBytes) {
    const auto* const range = find(*tensor);
    if (range == nullptr) return {};
    return GivenArgument::tensor_map(range->second.id, tensor->address - range->first);
  }
  GivenArgument given;
  given.kind = GivenArgument::Kind::kStruct;
  std::size_t map_end = 0;  // of the one before
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const auto place = static_cast<std::uint32_t>(at);
    if (const auto* tensor = at % kMapAlignment == 0 ? mapped_tensor(bytes.substr(at)) : nullptr) {
      const auto* const range = find(*tensor);
      if (range == nullptr) return {};
      given.maps.push_back({place, range->second.id, tensor->address - range->first});
      given.may_have_other_maps |= may_hold_map(bytes, map_end, at);
      map_end = at + kTensorMapBytes;
      at = map_end - sizeof(std::uint64_t);
      continue;
    }
    const std::uint64_t word = word_at(bytes, at);
    if (const auto* range = find(word)) {
      if (range->second.shared) return {};
      given.fields.push_back({place, range->second.id, word - range->first});
      continue;
    }
    if (may_be_address(word)) return {};
    for (std::uint32_t half = 0; half < 8 && at + half + 4 <= bytes.size(); half += 4) {
      given.numbers.push_back({place + half, 4, word >> (8 * half) & 0xFFFFFFFF});
    }
  }
  given.may_have_other_maps |= may_hold_map(bytes, map_end, bytes.size());
  return given;
}

}  // namespace baton::record
