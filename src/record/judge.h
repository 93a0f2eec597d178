#pragma once

// What programmatic dependent launch does, or would do, to the launches of a recorded process.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/edge.h"
#include "record/events.h"

namespace baton::record {

// The edge between consecutive launches of a stream, with all edges that are alike.
struct RecordEdge {
  std::uint64_t from = 0, to = 0;  // the first of them: launches of the process, from 0
  std::string from_kernel, to_kernel;
  bool programmatic = false;  // the program launches the later one with PDL
  EdgeVerdict verdict = EdgeVerdict::kUnknown;
  EdgeCause cause = EdgeCause::kUnseen;
  std::string reason;
  std::string where;  // of the access that decides it, in the later kernel; may be empty
  std::uint64_t count = 0;
};

// A kernel that was launched.
struct RecordKernel {
  std::string name;      // its symbol
  std::string readable;  // demangled
  std::uint64_t launches = 0;
  std::optional<bool> waits, triggers;
  std::string unseen;  // why its accesses are not known; empty: they are
};

struct RecordJudgement {
  std::vector<RecordEdge> edges;  // in the order of their first launches
  std::vector<RecordKernel> kernels;
  std::uint64_t launches = 0;
  std::uint64_t failed = 0;     // launches that the driver refused
  std::uint64_t separated = 0;  // launches after other work of their stream: not judged
  std::uint64_t graph_launches = 0;
  // Kernel nodes that are not judged: with several dependencies, or changed where they are.
  std::uint64_t graph_kernels = 0;
  std::vector<std::string> remarks;
};

// The bytes of an image of the record; nothing where they are not there.
using ImageBytes = std::function<std::optional<std::string>(const std::array<std::uint8_t, 32>&)>;

RecordJudgement judge(const ProcessRecord& process, const ImageBytes& images);

}  // namespace baton::record
