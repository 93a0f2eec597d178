#include "replay/copies.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "driver/driver.h"
#include "record/call_meaning.h"

namespace baton::replay {
namespace {

using record::CopyShape;
using Kind = ReplayedMemory::Kind;

std::uint64_t or_default(std::uint64_t value, std::uint64_t otherwise) {
  return value == 0 ? otherwise : value;
}

std::uint64_t depth_of(const CUDA_MEMCPY2D&) {
  return 1;
}
std::uint64_t depth_of(const CUDA_MEMCPY3D& copy) {
  return copy.Depth;
}
std::uint64_t slice_of(const CUDA_MEMCPY2D&, bool, std::uint64_t) {
  return 0;
}
std::uint64_t slice_of(const CUDA_MEMCPY3D& copy, bool target, std::uint64_t pitch) {
  return pitch * or_default(target ? copy.dstHeight : copy.srcHeight, copy.Height);
}
std::uint64_t slices_before(const CUDA_MEMCPY2D&, bool) {
  return 0;
}
std::uint64_t slices_before(const CUDA_MEMCPY3D& copy, bool target) {
  return target ? copy.dstZ : copy.srcZ;
}

}  // namespace

ReplayCopies::ReplayCopies(const Device& device, ReplayMemory& memory)
    : device_(device), memory_(memory) {}

ReplayCopies::~ReplayCopies() {
  for (const auto& [pages, bytes] : zeros_) munmap(pages, bytes);
}

const char* ReplayCopies::zeros(std::uint64_t bytes) {
  if (zeros_.empty() || zeros_.back().second < bytes) {
    void* const pages =
        mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    zeros_.emplace_back(pages, bytes);
  }
  return static_cast<const char*>(zeros_.back().first);
}

ReplayCopies::Rows ReplayCopies::rows_of(const record::RecordedEvent& event,
                                         CopyShape shape) const {
  const bool is_peer = shape == CopyShape::kPeer;
  Rows rows;
  rows.bytes = event.word(is_peer ? 4 : 2);
  rows.target.place = memory_.find(event.word(0));
  rows.source.place = memory_.find(event.word(is_peer ? 2 : 1));
  return rows;
}

template <typename Structure>
std::string ReplayCopies::read_structure(std::string_view bytes, Rows& rows) const {
  if (bytes.size() != sizeof(Structure)) return "its structure is not in the record";
  Structure copy;
  std::memcpy(&copy, bytes.data(), sizeof copy);
  rows.bytes = copy.WidthInBytes;
  rows.rows = copy.Height;
  rows.slices = depth_of(copy);
  for (const bool target : {false, true}) {
    const CUmemorytype type = target ? copy.dstMemoryType : copy.srcMemoryType;
    if (type == CU_MEMORYTYPE_ARRAY) return "it copies an array";
    const std::uint64_t base =
        type == CU_MEMORYTYPE_HOST
            ? reinterpret_cast<std::uintptr_t>(target ? copy.dstHost : copy.srcHost)
            : (target ? copy.dstDevice : copy.srcDevice);
    Side& side = target ? rows.target : rows.source;
    side.pitch = or_default(target ? copy.dstPitch : copy.srcPitch, copy.WidthInBytes);
    side.slice = slice_of(copy, target, side.pitch);
    side.place = memory_.find(base + slices_before(copy, target) * side.slice +
                              (target ? copy.dstY : copy.srcY) * side.pitch +
                              (target ? copy.dstXInBytes : copy.srcXInBytes));
  }
  return {};
}

char* ReplayCopies::host_side(const Rows& rows, CopyDetails& details, bool keeps) {
  if (!rows.source.place && !details.contents) return const_cast<char*>(zeros(rows.total()));
  std::string& room = keeps ? kept_.emplace_back() : room_;
  if (details.contents) {
    room = std::move(*details.contents);
    details.contents.emplace();
  }
  if (room.size() < rows.total()) room.resize(rows.total());
  return room.data();
}

void ReplayCopies::note_source(const Rows& rows, const CopyDetails& details, const Moved& moved) {
  if (!rows.target.place) return;
  ReplayedMemory& target = memory_[rows.target.place->memory];
  const bool is_whole = rows.target.place->left == target.bytes && rows.total() == target.bytes;
  if (is_whole && target.kind != Kind::kHost) {
    target.doubtful = target.lost_writes = false;
    target.points_to.clear();
  }
  if (details.contents) {
    target.points_to.insert(moved.memories.begin(), moved.memories.end());
    target.doubtful |= moved.lacks_map;
    return;
  }
  if (rows.source.place && memory_[rows.source.place->memory].kind != Kind::kHost) {
    const ReplayedMemory& source = memory_[rows.source.place->memory];
    target.doubtful |= source.doubtful;
    target.lost_writes |= source.lost_writes;
    target.points_to.insert(source.points_to.begin(), source.points_to.end());
    return;
  }
  target.doubtful = true;
  target.unknown_bytes += rows.total();
}

bool ReplayCopies::fits(const Side& side, const Rows& rows) {
  if (!side.place) return true;
  if (rows.rows > 1 && side.pitch < rows.bytes) return false;
  if (rows.slices > 1 && side.slice / rows.rows < side.pitch) return false;
  std::uint64_t bytes = 0, slices = 0;
  return !__builtin_mul_overflow(rows.rows - 1, side.pitch, &bytes) &&
         !__builtin_mul_overflow(rows.slices - 1, side.slice, &slices) &&
         !__builtin_add_overflow(bytes, slices, &bytes) &&
         !__builtin_add_overflow(bytes, rows.bytes, &bytes) && bytes <= side.place->left;
}

std::string ReplayCopies::objection_to(const Rows& rows, CopyShape shape) {
  const bool to_device = shape == CopyShape::kHostToDevice || shape == CopyShape::kDeviceToDevice ||
                         shape == CopyShape::kPeer;
  const bool from_device = shape == CopyShape::kDeviceToHost ||
                           shape == CopyShape::kDeviceToDevice || shape == CopyShape::kPeer;
  if (!rows.target.place && to_device) return "its target is in no memory that the record knows";
  if (!rows.source.place && from_device) return "its source is in no memory that the record knows";
  if (!fits(rows.target, rows)) return "it writes beyond the end of its target";
  if (!fits(rows.source, rows)) return "it reads beyond the end of its source";
  return {};
}

CUDA_MEMCPY3D ReplayCopies::structure_of(const Rows& rows, char* host) {
  CUDA_MEMCPY3D made;
  std::memset(&made, 0, sizeof made);
  made.WidthInBytes = rows.bytes;
  made.Height = rows.rows;
  made.Depth = rows.slices;
  // Rows of the host's side are consecutive.
  const auto pitch = [&](const Side& side) {
    return side.place ? or_default(side.pitch, rows.bytes) : rows.bytes;
  };
  const auto height = [&](const Side& side) {
    return side.place && side.slice != 0 ? side.slice / pitch(side) : rows.rows;
  };
  made.srcMemoryType = rows.source.place ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  made.srcHost = rows.source.place ? nullptr : host;
  made.srcDevice = rows.source.place ? rows.source.place->address : 0;
  made.srcPitch = pitch(rows.source);
  made.srcHeight = height(rows.source);
  made.dstMemoryType = rows.target.place ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  made.dstHost = rows.target.place ? nullptr : host;
  made.dstDevice = rows.target.place ? rows.target.place->address : 0;
  made.dstPitch = pitch(rows.target);
  made.dstHeight = height(rows.target);
  return made;
}

std::string ReplayCopies::copy(const record::RecordedEvent& event, CopyShape shape,
                               CopyDetails details, CUstream stream, bool keeps) {
  if (shape == CopyShape::kOther) return "what it copies is not in the record";
  Rows rows;
  if (shape == CopyShape::kRows || shape == CopyShape::kSlices) {
    std::string why = shape == CopyShape::kRows
                          ? read_structure<CUDA_MEMCPY2D>(details.structure, rows)
                          : read_structure<CUDA_MEMCPY3D>(details.structure, rows);
    if (!why.empty()) return why;
  } else {
    rows = rows_of(event, shape);
  }
  if (rows.bytes == 0 || rows.rows == 0 || rows.slices == 0) return {};
  if (std::string why = objection_to(rows, shape); !why.empty()) return why;
  // The recorded contents are those at the copy; the memory here may differ from them.
  if (details.contents) rows.source.place.reset();
  // Both sides are memory of the host that the record does not know.
  if (!rows.target.place && !rows.source.place) return {};
  Moved moved;
  if (details.contents && rows.target.place) {
    if (details.contents->size() != rows.total()) {
      return "the record has other contents for it than it copies";
    }
    const std::uint64_t skipped = (8 - rows.target.place->address % 8) % 8;
    if (skipped < rows.total() && (rows.rows * rows.slices == 1 || rows.bytes % 8 == 0)) {
      memory_.relocate(details.contents->data() + skipped, rows.total() - skipped, moved);
      moved_ += moved.words;
    }
  }
  const bool has_host = !rows.source.place || !rows.target.place;
  const CUDA_MEMCPY3D made =
      structure_of(rows, has_host ? host_side(rows, details, keeps) : nullptr);
  const driver::Driver& driver = device_.driver();
  const CUresult result = driver.cuMemcpy3DAsync(&made, stream);
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  note_source(rows, details, moved);
  return {};
}

std::string ReplayCopies::fill(const record::RecordedEvent& event, CUstream stream) {
  const bool has_rows = event.function.find("D2D") != std::string_view::npos;
  const std::string_view width = event.function.substr(event.function.find(has_rows ? "D2D" : "D"));
  const std::string_view digits = width.substr(has_rows ? 3 : 1);
  const unsigned bytes = digits.starts_with("8") ? 1 : digits.starts_with("16") ? 2 : 4;
  const auto place = memory_.find(event.word(0));
  if (!place) return "its target is in no memory that the record knows";
  const std::uint64_t pitch = event.word(1), count = event.word(has_rows ? 3 : 2);
  const std::uint64_t rows = has_rows ? event.word(4) : 1;
  const auto value = static_cast<unsigned>(event.word(has_rows ? 2 : 1));
  const driver::Driver& driver = device_.driver();
  CUresult result = CUDA_SUCCESS;
  if (bytes == 1) {
    const auto byte = static_cast<unsigned char>(value);
    result = has_rows ? driver.cuMemsetD2D8Async(place->address, pitch, byte, count, rows, stream)
                      : driver.cuMemsetD8Async(place->address, byte, count, stream);
  } else if (bytes == 2) {
    const auto half = static_cast<unsigned short>(value);
    result = has_rows ? driver.cuMemsetD2D16Async(place->address, pitch, half, count, rows, stream)
                      : driver.cuMemsetD16Async(place->address, half, count, stream);
  } else {
    result = has_rows ? driver.cuMemsetD2D32Async(place->address, pitch, value, count, rows, stream)
                      : driver.cuMemsetD32Async(place->address, value, count, stream);
  }
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  ReplayedMemory& target = memory_[place->memory];
  if (!has_rows && place->left == target.bytes && count * bytes == target.bytes &&
      target.kind != Kind::kHost) {
    target.doubtful = target.lost_writes = false;
    target.points_to.clear();
  }
  return {};
}

std::string ReplayCopies::add_copy_node(std::string_view structure, CUgraph graph,
                                        CUgraphNode* node) {
  Rows rows;
  if (std::string why = read_structure<CUDA_MEMCPY3D>(structure, rows); !why.empty()) return why;
  if (std::string why = objection_to(rows, CopyShape::kAny); !why.empty()) return why;
  if (!rows.target.place && !rows.source.place)
    return "both of its sides are memory of the host alone";
  // The record lacks the contents of the host's memory when the graph runs.
  CopyDetails details;
  const bool has_host = !rows.source.place || !rows.target.place;
  const CUDA_MEMCPY3D made =
      structure_of(rows, has_host ? host_side(rows, details, true) : nullptr);
  const driver::Driver& driver = device_.driver();
  const CUresult result =
      driver.cuGraphAddMemcpyNode(node, graph, nullptr, 0, &made, device_.native_context());
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  note_source(rows, details, {});
  return {};
}

std::string ReplayCopies::add_fill_node(std::string_view structure, CUgraph graph,
                                        CUgraphNode* node) {
  CUDA_MEMSET_NODE_PARAMS fill;
  if (structure.size() != sizeof fill) return "its structure is not in the record";
  std::memcpy(&fill, structure.data(), sizeof fill);
  const auto place = memory_.find(fill.dst);
  if (!place) return "its target is in no memory that the record knows";
  fill.dst = place->address;
  const driver::Driver& driver = device_.driver();
  const CUresult result =
      driver.cuGraphAddMemsetNode(node, graph, nullptr, 0, &fill, device_.native_context());
  return result == CUDA_SUCCESS ? std::string() : driver::describe(driver, result);
}

}  // namespace baton::replay
