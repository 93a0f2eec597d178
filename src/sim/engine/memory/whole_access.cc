#include "sim/engine/memory/whole_access.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <thread>

#include "sim/engine/judge/lane_access.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

template <class T>
void load_whole(const std::byte* from, void* to) {
  const T value = __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_SEQ_CST);
  std::memcpy(to, &value, sizeof(value));
}
template <class T>
void store_whole(std::byte* to, const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_SEQ_CST);
}

// Operations on 16 bytes, which not every processor can do at once, take turns by address.
class WholeTurn {
 public:
  explicit WholeTurn(const std::byte* place)
      : turn_(turns()[reinterpret_cast<std::uintptr_t>(place) / 16 % kTurns]) {
    while (turn_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~WholeTurn() { turn_.clear(std::memory_order_release); }
  WholeTurn(const WholeTurn&) = delete;
  WholeTurn& operator=(const WholeTurn&) = delete;

 private:
  static constexpr std::size_t kTurns = 64;
  static std::array<std::atomic_flag, kTurns>& turns() {
    static std::array<std::atomic_flag, kTurns> all;
    return all;
  }
  std::atomic_flag& turn_;
};

}  // namespace

void load_strong(const std::byte* from, void* to, std::uint32_t bytes) {
  std::optional<WholeTurn> turn;
  if (bytes == 16) turn.emplace(from);
  switch (bytes) {
    case 1:
      return load_whole<std::uint8_t>(from, to);
    case 2:
      return load_whole<std::uint16_t>(from, to);
    case 4:
      return load_whole<std::uint32_t>(from, to);
    case 8:
      return load_whole<std::uint64_t>(from, to);
    default:
      break;
  }
  for (std::uint32_t k = 0; k < bytes; k += 8) {
    load_whole<std::uint64_t>(from + k, static_cast<std::byte*>(to) + k);
  }
}
void store_strong(std::byte* to, const void* from, std::uint32_t bytes) {
  std::optional<WholeTurn> turn;
  if (bytes == 16) turn.emplace(to);
  switch (bytes) {
    case 1:
      return store_whole<std::uint8_t>(to, from);
    case 2:
      return store_whole<std::uint16_t>(to, from);
    case 4:
      return store_whole<std::uint32_t>(to, from);
    case 8:
      return store_whole<std::uint64_t>(to, from);
    default:
      break;
  }
  for (std::uint32_t k = 0; k < bytes; k += 8) {
    store_whole<std::uint64_t>(to + k, static_cast<const std::byte*>(from) + k);
  }
}

namespace {

template <bool Compares>
const Insn* exchange_wide(Exec* x, const Insn* i) {
  constexpr std::uint32_t kBytes = 16;
  const bool narrow = (i->negated & 1) != 0;
  std::uint32_t unchanged = 0;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    const std::uint64_t base =
        narrow ? slot_at<std::uint32_t>(x, i->r[1])[l] : slot_at<std::uint64_t>(x, i->r[1])[l];
    std::byte* place = atomic_lane(x, i, l, space_of_mode(i->mode),
                                   base + static_cast<std::uint64_t>(i->imm), kBytes);
    if (place == nullptr) return nullptr;
    const auto value = [&](int k) { return x->frame + i->r[k] + std::size_t{kBytes} * l; };
    std::byte old[kBytes];
    const WholeTurn turn(place);
    std::memcpy(old, place, kBytes);
    const bool equal = !Compares || std::memcmp(old, value(2), kBytes) == 0;
    if (equal) std::memcpy(place, value(Compares ? 3 : 2), kBytes);
    unchanged += equal ? 0 : 1;
    if (i->r[0] != 0) std::memcpy(value(0), old, kBytes);
  }
  x->spin += unchanged;
  return i + 1;
}

}  // namespace

const Insn* op_exchange_wide(Exec* x, const Insn* i) {
  return exchange_wide<false>(x, i);
}
const Insn* op_swap_wide(Exec* x, const Insn* i) {
  return exchange_wide<true>(x, i);
}

const Insn* op_store_zeros(Exec* x, const Insn* i) {
  constexpr std::uint64_t kZero = 0;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int l = std::countr_zero(left);
    const std::uint64_t to = slot_at<std::uint64_t>(x, i->r[0])[l];
    const std::uint64_t size = slot_at<std::uint64_t>(x, i->r[1])[l];
    for (std::uint64_t at = 0; at < size; at += sizeof(kZero)) {
      const auto bytes =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(sizeof(kZero), size - at));
      if (!store_lane(x, i, l, Space::kGeneric, to + at, &kZero, bytes, false)) return nullptr;
    }
  }
  return i + 1;
}

}  // namespace baton::sim
