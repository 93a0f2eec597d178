#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "baton/allocator.h"
#include "baton/buffer.h"
#include "bind/buffers.h"

namespace baton {

// The weights of a loaded program in device memory, which its executables share. It keeps none
// alive: memory ends with the last executable that uses it. Thread-safe.
class WeightPool {
 public:
  // What decides the contents and the place of a weight.
  struct Key {
    std::size_t buffer = 0;  // its number in the program
    std::vector<std::int64_t> shape;
    std::optional<std::uint64_t> seed;  // where the contents depend on it
    const Allocator* allocator = nullptr;
    std::vector<bind::BoundShard> shards;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Returns the weight, complete; null if no executable has it.
  std::shared_ptr<const Memory> find(const Key& key) const;

  // The right to add weights. Another thread that needs it waits, and then finds what was added.
  std::unique_lock<std::mutex> filling() { return std::unique_lock(filling_); }
  // Adds a weight, whose contents are complete. The caller holds `filling`.
  void add(Key key, const std::shared_ptr<const Memory>& memory);

 private:
  std::mutex filling_;
  mutable std::mutex mutex_;  // of the map
  std::map<Key, std::weak_ptr<const Memory>> weights_;
};

}  // namespace baton
