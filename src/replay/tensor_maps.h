#pragma once

// The tensor maps of a recorded process, made again of the replay's memory.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

#include "baton/device.h"
#include "record/events.h"
#include "replay/replay_memory.h"

namespace baton::replay {

class ReplayTensorMaps final : public MapReplacer {
 public:
  explicit ReplayTensorMaps(const Device& device) : device_(device) {}

  void follow(const record::RecordedEvent& event);  // a kTensorMap

  Replaced replace(char* map, const ReplayMemory& memory, Moved& moved) const override;

 private:
  const Device device_;
  std::map<std::string, record::TensorMapNote, std::less<>> maps_;  // by their bytes
  std::unordered_set<std::uint64_t> first_words_;                   // of these
};

}  // namespace baton::replay
