#include "sim/engine/run/access_count.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/engine/isa/spec.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::uint64_t kSectorBytes = 32, kBankBytes = 4;
constexpr std::size_t kBanks = 32;
// Of 32 lanes with up to 64 bytes each: 16 words, and one more where they are not aligned.
constexpr std::size_t kMostUnits = 17 * kLanes;
using Units = std::array<std::uint64_t, kMostUnits>;

// The addresses of the lanes that access one kind of memory.
struct LaneAddresses {
  std::array<std::uint64_t, kLanes> at{};
  std::array<std::uint8_t, kLanes> lanes{};
  std::size_t count = 0;

  void add(int lane, std::uint64_t address) {
    at[count] = address;
    lanes[count++] = static_cast<std::uint8_t>(lane);
  }
  std::span<const std::uint64_t> addresses() const { return {at.data(), count}; }
};

// The numbers of the units that hold any of the bytes, each once, ascending.
std::size_t units_of(std::span<const std::uint64_t> addresses, std::uint32_t bytes,
                     std::uint64_t unit, Units& units) {
  std::size_t count = 0;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t last = (address + bytes - 1) / unit;
    for (std::uint64_t k = address / unit; k <= last; ++k) units[count++] = k;
  }
  const auto end = units.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(units.begin(), end);
  return static_cast<std::size_t>(std::unique(units.begin(), end) - units.begin());
}

std::uint64_t passes_of(std::span<const std::uint64_t> addresses, std::uint32_t bytes) {
  Units words;
  const std::size_t count = units_of(addresses, bytes, kBankBytes, words);
  std::array<std::uint32_t, kBanks> in_bank{};
  for (std::size_t k = 0; k < count; ++k) ++in_bank[words[k] % kBanks];
  return *std::max_element(in_bank.begin(), in_bank.end());
}

// Which memory a lane's access is for. Local memory and parameters are not counted.
enum class Counted : std::uint8_t { kNothing, kGlobal, kShared };

Counted counted_as(Space space, std::uint64_t address) {
  if (space == Space::kGlobal) return Counted::kGlobal;
  if (space == Space::kShared) return Counted::kShared;
  if (window_of(address) == window_number(kSharedWindow)) return Counted::kShared;
  return is_global_address(address) ? Counted::kGlobal : Counted::kNothing;
}

}  // namespace

std::uint64_t sectors_of(std::span<const std::uint64_t> addresses, std::uint32_t bytes) {
  Units sectors;
  return units_of(addresses, bytes, kSectorBytes, sectors);
}

BankPasses bank_passes(std::span<const std::uint64_t> addresses,
                       std::span<const std::uint8_t> lanes, std::uint32_t bytes) {
  const std::size_t together =
      kBanks * kBankBytes / std::clamp<std::size_t>(std::bit_ceil(bytes), kBankBytes, 128);
  BankPasses passes;
  for (std::size_t first = 0; first < addresses.size();) {
    std::size_t end = first;
    while (end < addresses.size() && lanes[end] / together == lanes[first] / together) ++end;
    const std::uint64_t group = passes_of(addresses.subspan(first, end - first), bytes);
    passes.all += group;
    passes.conflicts += group - 1;
    first = end;
  }
  return passes;
}

const Insn* op_count(Exec* x, const Insn* i) {
  const DecodedFunction& function = *function_of(x);
  const CountedAccess& access =
      function.counted[static_cast<std::size_t>(i - function.code.data())];
  const Space space = space_of_mode(i->mode);
  LaneAddresses global, shared;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t slot = i->r[access.address];
    const std::uint64_t address =
        (access.is_wide ? slot_at<std::uint64_t>(x, slot)[lane]
                        : std::uint64_t{slot_at<std::uint32_t>(x, slot)[lane]}) +
        static_cast<std::uint64_t>(i->imm);
    switch (counted_as(space, address)) {
      case Counted::kGlobal:
        global.add(lane, address);
        break;
      case Counted::kShared:
        shared.add(lane, address);
        break;
      case Counted::kNothing:
        break;
    }
  }
  if (global.count != 0) {
    ++x->accesses.global_requests;
    x->accesses.global_sectors += sectors_of(global.addresses(), access.bytes);
  }
  if (shared.count != 0) {
    const BankPasses passes =
        bank_passes(shared.addresses(), {shared.lanes.data(), shared.count}, access.bytes);
    ++x->accesses.shared_requests;
    x->accesses.shared_passes += passes.all;
    x->accesses.shared_conflicts += passes.conflicts;
  }
  return access.handler(x, i);
}

}  // namespace baton::sim
