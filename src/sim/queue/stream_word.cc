#include "sim/queue/stream_word.h"

#include <fmt/core.h>

#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

template <typename T>
void store_word(std::uint64_t address, std::uint64_t value) {
  __atomic_store_n(reinterpret_cast<T*>(address), static_cast<T>(value), __ATOMIC_RELEASE);
}

std::optional<std::uint64_t> word_value(const StreamWord& word) {
  if (word.place.heap != nullptr) {
    std::uint64_t value = 0;  // little-endian
    const bool is_there = word.place.heap->memory().read(word.place.address, &value, word.bytes);
    return is_there ? std::optional(value) : std::nullopt;
  }
  const auto address = word.place.address;
  return word.bytes == 4
             ? __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address), __ATOMIC_ACQUIRE)
             : __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_ACQUIRE);
}

FlagTable& flags_of(const StreamWord& word) {
  return word.heap->memory().impl().flags;
}

// Of a word of 4 bytes the upper half of the difference does not count.
std::int64_t difference(const WaitValue& wait, std::uint64_t value) {
  const std::uint64_t whole = value - wait.value;
  return wait.word.bytes == 4 ? static_cast<std::int32_t>(whole) : static_cast<std::int64_t>(whole);
}

const char* condition_text(unsigned how) {
  switch (how) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return "are at least";
    case CU_STREAM_WAIT_VALUE_EQ:
      return "are";
    case CU_STREAM_WAIT_VALUE_AND:
      return "have one of the bits";
    default:
      return "lack one of the bits that are not in";
  }
}

}  // namespace

bool write_word(const WriteValue& write, Ordering::Number number) {
  const StreamWord& word = write.word;
  FlagTable& flags = flags_of(word);
  // Whoever sees the value must find what it comes after.
  if (write.has_barrier) {
    flags.replace(word.place.address, {number, false, 0});
  } else {
    flags.remove(word.place.address);
  }
  if (word.place.heap != nullptr) {
    return word.place.heap->memory().write(word.place.address, &write.value, word.bytes);
  }
  if (word.bytes == 4) {
    store_word<std::uint32_t>(word.place.address, write.value);
  } else {
    store_word<std::uint64_t>(word.place.address, write.value);
  }
  return true;
}

std::optional<bool> is_met(const WaitValue& wait) {
  const std::optional<std::uint64_t> value = word_value(wait.word);
  if (!value) return std::nullopt;
  const std::uint64_t mask = wait.word.bytes == 4 ? UINT32_MAX : UINT64_MAX;
  switch (wait.how) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return difference(wait, *value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return *value == (wait.value & mask);
    case CU_STREAM_WAIT_VALUE_AND:
      return (*value & wait.value & mask) != 0;
    default:
      return (~(*value | wait.value) & mask) != 0;
  }
}

void note_met(const WaitValue& wait, Ordering::Number number) {
  std::vector<Ordering::Number> writers;
  flags_of(wait.word).each(wait.word.place.address, [&](const FlagSource& source) {
    if (source.told_within == 0) writers.push_back(source.grid);
  });
  Ordering::instance().came_after(number, writers);
}

std::string wait_text(const WaitValue& wait) {
  return fmt::format("a stream waits until {} bytes at {:#x} {} {}, and they are {}",
                     wait.word.bytes, wait.word.place.address, condition_text(wait.how), wait.value,
                     word_value(wait.word).value_or(0));
}

}  // namespace baton::sim
