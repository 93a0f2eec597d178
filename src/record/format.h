#pragma once

// The files of a record, as the recorder writes them and the reader reads them;
// docs/record-format.md describes them. Numbers are little-endian, as the machines are that CUDA
// runs on.

#include <cstddef>
#include <cstdint>

namespace baton::record {

inline constexpr char kMagic[8] = {'B', 'A', 'T', 'O', 'N', 'R', 'E', 'C'};
inline constexpr std::uint32_t kVersion = 2;
// The oldest version that is read: it lacks the kinds of events from kContents on.
inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kChunkBytes = 256 * 1024;
inline constexpr std::uint32_t kChunkMagic = 0x4B4E4843;  // "CHNK"
// Names of files in the folder of a record.
inline constexpr const char* kManifest = "record.json";
inline constexpr const char* kImages = "images";
inline constexpr const char* kEventsEnding = ".events";
inline constexpr const char* kContentsEnding = ".contents";

// The first bytes of a file of events: one process. Chunks of `chunk_bytes` follow the header.
struct RecordHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t process;
  // Why recording stopped before the process ended: errno of the system's refusal. 0: it did not.
  std::uint32_t stopped;
  std::uint32_t driver_version;  // 13000; 0: not known
  char program[1024];            // with a NUL
  char driver[1024];             // the driver's library
};
static_assert(sizeof(RecordHeader) <= kHeaderBytes);

// One thread writes a chunk. What lies after `used` is not written yet.
struct ChunkHeader {
  std::uint32_t magic;
  std::uint32_t thread;  // from 1
  std::uint32_t used;    // bytes, with this header
  std::uint32_t reserved;
};

enum class EventKind : std::uint16_t {
  kName = 1,      // the name of a function, for its number in other events: text
  kCall = 2,      // 64-bit words, one a parameter
  kLaunch = 3,    // LaunchEvent, its attributes, its bytes of parameters
  kImage = 4,     // ImageNote, then text: what loaded
  kFunction = 5,  // FunctionNote, ParamNotes, then text: the kernel's symbol
  kRemark = 6,    // text: what the record lacks, and why
  // kContents, kStructure and kNode are about the next call of their thread.
  kContents = 7,    // ContentsNote: the bytes that it reads from the host
  kStructure = 8,   // StructureNote, then the bytes that a parameter points to
  kVariable = 9,    // VariableNote, then text: the name of a variable of a module
  kNode = 10,       // NodeNote, its EdgeNotes, and what the node does, by its kind
  kTensorMap = 11,  // TensorMapNote: a map that the driver made
};

// The result of a call that has not returned.
inline constexpr std::int32_t kNotReturned = -1;

// In front of each event. Events of one process are sorted by `order`; 0: the call had not
// returned, and its place is not known.
struct EventHeader {
  std::uint32_t bytes;  // with this header; a multiple of 8
  EventKind kind;
  std::uint16_t text_bytes;  // of the text at the end, without padding
  std::uint64_t order;
  std::uint32_t function;  // its number, by kName
  std::int32_t result;     // CUresult
};

struct LaunchEvent {
  std::uint64_t function;
  std::uint64_t stream;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t shared_bytes;
  std::uint32_t attributes;   // AttributeNotes that follow
  std::uint32_t param_bytes;  // that follow them
  std::uint32_t flags;
};
inline constexpr std::uint32_t kCooperative = 1;
inline constexpr std::uint32_t kParamsUnknown = 2;  // the driver did not tell their sizes

// CUlaunchAttribute.
struct AttributeNote {
  std::uint32_t id;
  std::uint32_t reserved;
  std::uint8_t value[64];
};

struct ImageNote {
  std::uint64_t module;  // the handle; 0: not loaded by the program, but found in one of its files
  std::uint64_t bytes;
  std::uint8_t digest[32];  // SHA-256, the name of the file; zeros: the bytes are not there
};

struct FunctionNote {
  std::uint64_t function;
  std::uint64_t module;  // or library; 0: not known
  std::uint32_t params;  // ParamNotes that follow
  std::uint32_t flags;   // kParamsUnknown
};

struct ParamNote {
  std::uint32_t offset, size;
};

// The bytes that a copy reads from the host, with consecutive rows. They are in the file with
// kContentsEnding that belongs to the file of events.
struct ContentsNote {
  std::uint64_t offset;
  std::uint64_t bytes;
};

struct StructureNote {
  std::uint32_t parameter;  // its number
  std::uint32_t bytes;      // that follow
};

// The node or edges that a call adds to a graph, or changes in one. For a kernel a LaunchEvent
// follows, with the bytes of its parameters and without attributes or a stream. For a copy a
// CUDA_MEMCPY3D follows, for a fill CUDA_MEMSET_NODE_PARAMS, for an attribute an AttributeNote.
enum class NodeKind : std::uint32_t {
  kEmpty = 0,  // also of a call that adds edges alone
  kKernel = 1,
  kCopy = 2,
  kFill = 3,
  kHost = 4,
  kOther = 5,  // its work is not recorded
  kAttribute = 6,
};
// CUDA_MEMCPY3D and CUDA_MEMSET_NODE_PARAMS.
inline constexpr std::size_t kCopyNodeBytes = 200, kFillNodeBytes = 40;
struct NodeNote {
  NodeKind kind;
  std::uint32_t edges;  // EdgeNotes that follow
};

struct EdgeNote {
  std::uint64_t from, to;  // nodes; `to` is 0: the one that is added
  std::uint8_t data[8];    // CUgraphEdgeData
};

// The function that made a map.
enum class TensorMapKind : std::uint32_t {
  kTiled = 0,     // cuTensorMapEncodeTiled
  kIm2col = 1,    // another one: only the address is noted
  kReplaced = 2,  // cuTensorMapReplaceAddress: the address is, and the map `from`
};
struct TensorMapNote {
  std::uint8_t map[128];   // CUtensorMap
  std::uint8_t from[128];  // likewise
  std::uint64_t address;   // of the tensor
  std::uint64_t dims[5], strides[5];
  std::uint32_t box[5], element_strides[5];
  TensorMapKind kind;
  std::uint32_t type, rank, interleave, swizzle, promotion, fill, reserved;
};

struct VariableNote {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t module;  // or library
};

}  // namespace baton::record
