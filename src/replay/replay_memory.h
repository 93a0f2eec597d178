#pragma once

// The memory of a recorded process, and the address of each piece of it in a replay.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace baton::replay {

// A piece of memory: an allocation, or a variable of a module. It stays in the list when it ends.
struct ReplayedMemory {
  enum class Kind : std::uint8_t {
    kDevice,
    kHost,      // the host writes it without a call: pinned, managed or registered
    kVariable,  // of a module
    kReserved,  // addresses without memory
  };
  Kind kind = Kind::kDevice;
  std::string name;           // "allocation 3 (4096 bytes)"
  std::uint64_t address = 0;  // in the replay
  std::uint64_t bytes = 0;
  std::uint64_t unknown_bytes = 0;  // copied from the host, with contents that the record lacks
  bool doubtful = false;            // its contents may differ from those in the process
  bool lost_writes = false;         // work that may write it was not replayed
  std::set<std::size_t> points_to;  // memories whose addresses were copied into it
};

class ReplayMemory;

// The result of replacing addresses of the record.
struct Moved {
  std::uint64_t words = 0;  // that were addresses
  bool lacks_map = false;   // a tensor map in them cannot be made again
  std::set<std::size_t> memories;
};

inline constexpr std::size_t kTensorMapBytes = 128;

// Makes tensor maps again.
class MapReplacer {
 public:
  virtual ~MapReplacer() = default;
  enum class Replaced : std::uint8_t { kNoMap, kMade, kNotMade };
  // The bytes of a map of the record, in its place.
  virtual Replaced replace(char* map, const ReplayMemory& memory, Moved& moved) const = 0;
};

class ReplayMemory {
 public:
  // `maps`: null: no bytes are a tensor map.
  explicit ReplayMemory(const MapReplacer* maps = nullptr) : maps_(maps) {}

  struct Place {
    std::size_t memory = 0;     // its number
    std::uint64_t address = 0;  // in the replay
    std::uint64_t left = 0;     // bytes up to the end of the memory
  };

  // Ends any memory that had these addresses of the record.
  std::size_t add(std::uint64_t recorded, ReplayedMemory memory);
  // Ends the memory that begins there; nothing if none does.
  std::optional<std::size_t> end(std::uint64_t recorded);

  // The place of an address of the record, also of freed memory.
  std::optional<Place> find(std::uint64_t recorded) const;

  // Replaces each aligned word that is an address of the record, and each tensor map. The end of a
  // memory is an address, too.
  void relocate(char* bytes, std::uint64_t count, Moved& moved) const;

  // The memories, with all memories whose addresses are in them, recursively.
  std::set<std::size_t> reached(std::set<std::size_t> from) const;

  ReplayedMemory& operator[](std::size_t number) { return memories_[number]; }
  std::vector<ReplayedMemory>& all() { return memories_; }
  bool is_live(std::size_t number) const;

 private:
  struct Range {
    std::uint64_t end = 0;
    std::size_t memory = 0;
    bool live = true;
  };
  const MapReplacer* const maps_;
  std::map<std::uint64_t, Range> ranges_;  // by their beginnings in the record
  std::vector<ReplayedMemory> memories_;
  std::set<std::size_t> ended_;
};

}  // namespace baton::replay
