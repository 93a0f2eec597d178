#pragma once

// A file of events: what one process did, read and checked.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/format.h"

namespace baton::record {

// One event. The views refer to the file's bytes.
struct RecordedEvent {
  EventKind kind = EventKind::kRemark;
  std::uint32_t thread = 0;  // from 1
  std::uint64_t order = 0;
  std::string_view function;  // "cuLaunchKernelEx_ptsz"; of calls and launches
  std::int32_t result = 0;
  std::string_view body;  // without the text
  std::string_view text;

  // A parameter of a kCall; 0 where the call has fewer.
  std::uint64_t word(std::size_t index) const;
  bool succeeded() const { return result == 0; }
};

struct RecordedAttribute {
  std::uint32_t id = 0;
  std::array<std::uint8_t, 64> value = {};
};

struct RecordedLaunch {
  LaunchEvent note = {};
  std::vector<RecordedAttribute> attributes;
  std::string_view params;  // the block of parameters

  // Whether it may start before the launch before it in its stream is complete.
  bool is_programmatic() const;
  bool has_attribute(std::uint32_t id) const;
};
RecordedLaunch launch_of(const RecordedEvent& event);  // a kLaunch

// A kNode.
struct RecordedNode {
  NodeKind kind = NodeKind::kEmpty;
  std::vector<EdgeNote> edges;
  RecordedLaunch launch;  // of a kernel; of an attribute, that alone
  std::string_view body;  // what the node does
};
RecordedNode node_of(const RecordedEvent& event);

struct RecordedFunction {
  FunctionNote note = {};
  std::vector<ParamNote> params;
};
RecordedFunction function_of(const RecordedEvent& event);  // a kFunction

ImageNote image_of(const RecordedEvent& event);           // a kImage
ContentsNote contents_of(const RecordedEvent& event);     // a kContents
VariableNote variable_of(const RecordedEvent& event);     // a kVariable
TensorMapNote tensor_map_of(const RecordedEvent& event);  // a kTensorMap
// The bytes of a kStructure.
std::string_view structure_of(const RecordedEvent& event);

struct ProcessRecord {
  std::string file;
  std::uint32_t process = 0;
  std::string program, driver;
  int driver_version = 0;
  int stopped = 0;                    // errno of what ended the recording early
  std::vector<RecordedEvent> events;  // sorted by order
  std::uint64_t unreturned = 0;       // calls without a place: they had not returned
  // Why a part of the file could not be read; empty: all was.
  std::string damage;
  std::shared_ptr<const std::string> bytes;  // of the file, which the events refer to
};

// Reads what can be read: a part that is cut off or damaged costs its events and makes `damage`.
// Throws kInvalidInput for what is not a file of events, and for another version. Time and memory
// are linear in the file's size, whatever the bytes are.
ProcessRecord read_events(std::string bytes, const std::string& name);

}  // namespace baton::record
