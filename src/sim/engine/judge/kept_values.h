#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baton::sim {

// What some accesses of a log stored, byte by byte.
class KeptValues {
 public:
  // Room for so many bytes that access number `index` of the log stores; empty where that is too
  // much. Indices come in ascending order.
  std::span<std::byte> add(std::size_t index, std::size_t bytes);
  // Takes the room of the latest one back.
  void take_back();
  // Empty where nothing is known.
  std::span<const std::byte> of(std::size_t index) const;
  // The values of the accesses [first, end) of the other log.
  void copy(const KeptValues& from, std::size_t first, std::size_t end);
  void clear();

 private:
  struct Entry {
    std::size_t index = 0;
    std::size_t start = 0;  // in bytes_
  };
  std::vector<Entry> entries_;
  std::vector<std::byte> bytes_;
};

}  // namespace baton::sim
