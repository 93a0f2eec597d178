#include "record/events.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace baton::record {
namespace {

// Attributes of launches, as the driver numbers them.
constexpr std::uint32_t kProgrammaticStream = 6;

template <typename T>
T read(std::string_view bytes, std::size_t at = 0) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <std::size_t kSize>
std::string text_of(const char (&text)[kSize]) {
  return std::string(text, strnlen(text, kSize));
}

// Of a LaunchEvent with all that follows it.
std::size_t launch_bytes(std::string_view body) {
  if (body.size() < sizeof(LaunchEvent)) return sizeof(LaunchEvent);
  const auto note = read<LaunchEvent>(body);
  return sizeof note + std::size_t{note.attributes} * sizeof(AttributeNote) + note.param_bytes;
}

// Of a kNode; nothing for a kind of nodes that there is not.
std::optional<std::size_t> node_bytes(std::string_view body) {
  if (body.size() < sizeof(NodeNote)) return sizeof(NodeNote);
  const auto note = read<NodeNote>(body);
  const std::size_t head = sizeof note + std::size_t{note.edges} * sizeof(EdgeNote);
  if (head > body.size()) return head;
  switch (note.kind) {
    case NodeKind::kKernel:
      return head + launch_bytes(body.substr(head));
    case NodeKind::kCopy:
      return head + kCopyNodeBytes;
    case NodeKind::kFill:
      return head + kFillNodeBytes;
    case NodeKind::kAttribute:
      return head + sizeof(AttributeNote);
    case NodeKind::kEmpty:
    case NodeKind::kHost:
    case NodeKind::kOther:
      return head;
  }
  return std::nullopt;
}

// The bytes that an event of the kind has at least, without its text; nothing for a kind that there
// is not.
std::optional<std::size_t> body_bytes(EventKind kind, std::string_view body) {
  switch (kind) {
    case EventKind::kName:
    case EventKind::kRemark:
    case EventKind::kCall:
      return 0;
    case EventKind::kLaunch:
      return launch_bytes(body);
    case EventKind::kNode:
      return node_bytes(body);
    case EventKind::kImage:
      return sizeof(ImageNote);
    case EventKind::kFunction: {
      if (body.size() < sizeof(FunctionNote)) return sizeof(FunctionNote);
      const auto note = read<FunctionNote>(body);
      return sizeof note + std::size_t{note.params} * sizeof(ParamNote);
    }
    case EventKind::kContents:
      return sizeof(ContentsNote);
    case EventKind::kStructure: {
      if (body.size() < sizeof(StructureNote)) return sizeof(StructureNote);
      return sizeof(StructureNote) + std::size_t{read<StructureNote>(body).bytes};
    }
    case EventKind::kVariable:
      return sizeof(VariableNote);
    case EventKind::kTensorMap:
      return sizeof(TensorMapNote);
  }
  return std::nullopt;
}

RecordedAttribute read_attribute(std::string_view body, std::size_t at) {
  const auto note = read<AttributeNote>(body, at);
  RecordedAttribute attribute;
  attribute.id = note.id;
  std::memcpy(attribute.value.data(), note.value, sizeof note.value);
  return attribute;
}

RecordedLaunch read_launch(std::string_view body) {
  RecordedLaunch launch;
  launch.note = read<LaunchEvent>(body);
  std::size_t at = sizeof launch.note;
  for (std::uint32_t k = 0; k < launch.note.attributes; ++k, at += sizeof(AttributeNote)) {
    launch.attributes.push_back(read_attribute(body, at));
  }
  launch.params = body.substr(at, launch.note.param_bytes);
  return launch;
}

class EventReader {
 public:
  EventReader(ProcessRecord& record, const std::string& name) : record_(record), name_(name) {}

  void header() {
    const std::string_view bytes = *record_.bytes;
    if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
      throw error(ErrorCode::kInvalidInput,
                  "{} is not a file of a record: it does not begin with {}", name_,
                  std::string_view(kMagic, sizeof kMagic));
    }
    if (bytes.size() < sizeof(RecordHeader)) {
      throw error(ErrorCode::kInvalidInput,
                  "{} is truncated: its header has {} bytes, {} are there", name_,
                  sizeof(RecordHeader), bytes.size());
    }
    const auto header = read<RecordHeader>(bytes);
    if (header.version < kOldestVersion || header.version > kVersion) {
      throw error(ErrorCode::kInvalidInput,
                  "{} has version {} of the record format, this Baton reads versions {} to "
                  "{}; record again, or use the Baton version that recorded it",
                  name_, header.version, kOldestVersion, kVersion);
    }
    if (header.header_bytes < sizeof(RecordHeader) || header.chunk_bytes <= sizeof(ChunkHeader)) {
      throw error(ErrorCode::kInvalidInput,
                  "{} is damaged: its header claims {} bytes for itself and {} for a chunk", name_,
                  header.header_bytes, header.chunk_bytes);
    }
    record_.process = header.process;
    record_.program = text_of(header.program);
    record_.driver = text_of(header.driver);
    record_.driver_version = static_cast<int>(header.driver_version);
    record_.stopped = static_cast<int>(header.stopped);
    first_ = header.header_bytes;
    chunk_bytes_ = header.chunk_bytes;
  }

  void chunks() {
    const std::string_view bytes = *record_.bytes;
    for (std::size_t at = first_; at < bytes.size(); at += chunk_bytes_) {
      chunk(bytes.substr(at, chunk_bytes_), at);
    }
    if (first_ > bytes.size()) damaged(bytes.size(), "it ends within its header");
    std::erase_if(record_.events, [this](const RecordedEvent& event) {
      record_.unreturned += event.order == 0 ? 1 : 0;
      return event.order == 0;
    });
    std::ranges::stable_sort(record_.events, {}, &RecordedEvent::order);
    resolve_names();
  }

 private:
  void damaged(std::size_t at, const std::string& what) {
    if (record_.damage.empty()) {
      record_.damage = fmt::format("{} is damaged at byte {}: {}", name_, at, what);
    }
  }

  void chunk(std::string_view bytes, std::size_t place) {
    if (bytes.size() < sizeof(ChunkHeader)) return damaged(place, "a chunk is cut off");
    const auto header = read<ChunkHeader>(bytes);
    // Its thread had not begun it.
    if (header.magic == 0) return;
    if (header.magic != kChunkMagic) return damaged(place, "no chunk begins here");
    std::size_t used = header.used;
    if (used < sizeof header || used > chunk_bytes_) {
      return damaged(place, fmt::format("a chunk of {} bytes claims {}", chunk_bytes_, used));
    }
    if (used > bytes.size()) {
      damaged(place,
              fmt::format("{} bytes of a chunk of {} are cut off", used - bytes.size(), used));
      used = bytes.size();
    }
    for (std::size_t at = sizeof header; at < used;) {
      const std::size_t size = event(bytes.substr(at, used - at), header.thread, place + at);
      if (size == 0) return;
      at += size;
    }
  }

  // Returns the event's bytes; 0 where the rest of the chunk cannot be read.
  std::size_t event(std::string_view bytes, std::uint32_t thread, std::size_t place) {
    const auto fail = [&](const std::string& what) {
      damaged(place, what);
      return std::size_t{0};
    };
    if (bytes.size() < sizeof(EventHeader)) return fail("an event is cut off");
    const auto header = read<EventHeader>(bytes);
    if (header.bytes < sizeof header || header.bytes % 8 != 0 || header.bytes > bytes.size()) {
      return fail(fmt::format("an event claims {} bytes, {} are left", header.bytes, bytes.size()));
    }
    std::string_view body = bytes.substr(sizeof header, header.bytes - sizeof header);
    const std::optional<std::size_t> least = body_bytes(header.kind, body);
    if (!least) {
      return fail(fmt::format("there is no kind {} of events", static_cast<unsigned>(header.kind)));
    }
    if (*least > body.size() || header.text_bytes > body.size() - *least) {
      return fail(
          fmt::format("an event of the kind {} claims {} bytes and a text of {}, {} are there",
                      static_cast<unsigned>(header.kind), *least, header.text_bytes, body.size()));
    }
    RecordedEvent found;
    found.kind = header.kind;
    found.thread = thread;
    found.order = header.order;
    found.result = header.result;
    // The text is at the end, before the padding: with a known body, right after it.
    if (header.kind == EventKind::kCall) {
      found.body = body;
    } else {
      found.body = body.substr(0, *least);
      found.text = body.substr(*least, header.text_bytes);
    }
    found.function = std::string_view(bytes.data(), sizeof header);
    record_.events.push_back(found);
    return header.bytes;
  }

  void resolve_names() {
    std::vector<std::string_view> names;
    for (const RecordedEvent& event : record_.events) {
      if (event.kind != EventKind::kName) continue;
      const auto number = read<EventHeader>(event.function).function;
      if (number >= kMostNames) {
        damaged(0, fmt::format("a function has the number {}", number));
        continue;
      }
      if (number >= names.size()) names.resize(number + 1);
      names[number] = event.text;
    }
    for (RecordedEvent& event : record_.events) {
      const auto number = read<EventHeader>(event.function).function;
      const bool is_named = event.kind == EventKind::kCall || event.kind == EventKind::kLaunch;
      event.function = is_named && number < names.size() ? names[number] : std::string_view();
    }
    std::erase_if(record_.events,
                  [](const RecordedEvent& event) { return event.kind == EventKind::kName; });
  }

  // More than any driver has functions.
  static constexpr std::uint32_t kMostNames = 65536;

  ProcessRecord& record_;
  const std::string& name_;
  std::size_t first_ = 0, chunk_bytes_ = 0;
};

}  // namespace

std::uint64_t RecordedEvent::word(std::size_t index) const {
  const std::size_t at = index * sizeof(std::uint64_t);
  return at + sizeof(std::uint64_t) > body.size() ? 0 : read<std::uint64_t>(body, at);
}

bool RecordedLaunch::has_attribute(std::uint32_t id) const {
  return std::ranges::any_of(attributes, [id](const auto& each) { return each.id == id; });
}

bool RecordedLaunch::is_programmatic() const {
  return std::ranges::any_of(attributes, [](const RecordedAttribute& each) {
    std::int32_t allowed = 0;
    std::memcpy(&allowed, each.value.data(), sizeof allowed);
    return each.id == kProgrammaticStream && allowed != 0;
  });
}

RecordedLaunch launch_of(const RecordedEvent& event) {
  return read_launch(event.body);
}

RecordedNode node_of(const RecordedEvent& event) {
  RecordedNode node;
  const auto note = read<NodeNote>(event.body);
  node.kind = note.kind;
  std::size_t at = sizeof note;
  for (std::uint32_t k = 0; k < note.edges; ++k, at += sizeof(EdgeNote)) {
    node.edges.push_back(read<EdgeNote>(event.body, at));
  }
  node.body = event.body.substr(at);
  if (note.kind == NodeKind::kKernel) node.launch = read_launch(node.body);
  if (note.kind == NodeKind::kAttribute) {
    node.launch.attributes.push_back(read_attribute(node.body, 0));
  }
  return node;
}

RecordedFunction function_of(const RecordedEvent& event) {
  RecordedFunction function;
  function.note = read<FunctionNote>(event.body);
  for (std::uint32_t k = 0; k < function.note.params; ++k) {
    function.params.push_back(
        read<ParamNote>(event.body, sizeof function.note + k * sizeof(ParamNote)));
  }
  return function;
}

ImageNote image_of(const RecordedEvent& event) {
  return read<ImageNote>(event.body);
}

ContentsNote contents_of(const RecordedEvent& event) {
  return read<ContentsNote>(event.body);
}

TensorMapNote tensor_map_of(const RecordedEvent& event) {
  return read<TensorMapNote>(event.body);
}

VariableNote variable_of(const RecordedEvent& event) {
  return read<VariableNote>(event.body);
}

std::string_view structure_of(const RecordedEvent& event) {
  return event.body.substr(sizeof(StructureNote), read<StructureNote>(event.body).bytes);
}

ProcessRecord read_events(std::string bytes, const std::string& name) {
  ProcessRecord record;
  record.file = name;
  record.bytes = std::make_shared<const std::string>(std::move(bytes));
  EventReader reader(record, name);
  reader.header();
  reader.chunks();
  return record;
}

}  // namespace baton::record
