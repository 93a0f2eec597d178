#pragma once

// The copies and fills of a record in a replay.

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/device.h"
#include "record/copy_shape.h"
#include "record/events.h"
#include "replay/replay_memory.h"

namespace baton::replay {

// The details of a call in the events before it.
struct CopyDetails {
  std::string_view structure;           // CUDA_MEMCPY2D or CUDA_MEMCPY3D; empty: there is none
  std::optional<std::string> contents;  // of the host's rows; nothing: the record lacks them
};

// Not thread-safe.
class ReplayCopies {
 public:
  ReplayCopies(const Device& device, ReplayMemory& memory);
  ~ReplayCopies();
  ReplayCopies(const ReplayCopies&) = delete;
  ReplayCopies& operator=(const ReplayCopies&) = delete;

  // Submits the copy. Returns why it could not; empty: it did. `keeps`: the memory of the host that
  // it uses stays until the end, for a capture.
  std::string copy(const record::RecordedEvent& event, record::CopyShape shape, CopyDetails details,
                   CUstream stream, bool keeps);
  std::string fill(const record::RecordedEvent& event, CUstream stream);
  // Add the copy, or the fill, of a node to another graph; likewise.
  std::string add_copy_node(std::string_view structure, CUgraph graph, CUgraphNode* node);
  std::string add_fill_node(std::string_view structure, CUgraph graph, CUgraphNode* node);

  std::uint64_t moved_addresses() const { return moved_; }

 private:
  // One side: the place of its first row.
  struct Side {
    std::optional<ReplayMemory::Place> place;  // nothing: memory of the host that is not recorded
    std::uint64_t pitch = 0, slice = 0;
  };
  struct Rows {
    Side target, source;
    std::uint64_t bytes = 0, rows = 1, slices = 1;
    std::uint64_t total() const { return bytes * rows * slices; }
  };

  Rows rows_of(const record::RecordedEvent& event, record::CopyShape shape) const;
  template <typename Structure>
  std::string read_structure(std::string_view bytes, Rows& rows) const;
  static bool fits(const Side& side, const Rows& rows);
  static std::string objection_to(const Rows& rows, record::CopyShape shape);
  static CUDA_MEMCPY3D structure_of(const Rows& rows, char* host);
  // Memory of the host for a side without a place: the recorded contents, zeros, or space to write.
  char* host_side(const Rows& rows, CopyDetails& details, bool keeps);
  void note_source(const Rows& rows, const CopyDetails& details, const Moved& moved);
  const char* zeros(std::uint64_t bytes);

  const Device device_;
  ReplayMemory& memory_;
  std::uint64_t moved_ = 0;
  std::string room_;
  std::deque<std::string> kept_;
  // Shared pages of zeros, which no copy writes.
  std::vector<std::pair<void*, std::uint64_t>> zeros_;
};

}  // namespace baton::replay
