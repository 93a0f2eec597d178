#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "baton/expression.h"
#include "baton/launch_argument.h"
#include "baton/program_kernel.h"
#include "baton/world.h"

namespace baton {

struct LaunchStep {
  std::string kernel = {};
  std::vector<Expression> grid = {};   // 1 to 3 extents, in blocks
  std::vector<Expression> block = {};  // 1 to 3 extents; empty if the image fixes it
  std::vector<LaunchArgument> args = {};
  ProgramAttributes attributes = {};
  // For a launch that is itself a step of a branch: events that order it with launches of other
  // branches of the same parallel before it is done. Names, empty for none.
  std::string programmatic_event = {};       // happens when every block has triggered or ended
  std::string launch_completion_event = {};  // happens when every block has begun
  // Events of launches of earlier branches, before which the launch does not start. Its wait
  // (griddepcontrol.wait) lasts until launches with these programmatic events are done.
  std::vector<std::string> after = {};
};

struct CopyStep {
  BufferOffset from = {}, to = {};
  std::optional<Expression> count = {};  // elements; empty: the rest of both
};

struct FillStep {
  std::string buffer = {};
  std::variant<double, Expression> value = 0.0;
};

enum class CollectiveKind : std::uint8_t {
  kAllReduce,      // the buffer becomes the reduction of the buffers of all ranks
  kAllGather,      // `to` becomes the buffers of all ranks, in their order
  kReduceScatter,  // `to` becomes this rank's part of the reduction of `from` of all ranks
  kBroadcast,      // the buffer becomes the one of the rank `peer`
  kSend,           // sends the buffer to the rank `peer`
  kReceive,        // receives the buffer from the rank `peer`
};
BATON_API std::string_view to_string(CollectiveKind kind) noexcept;
BATON_API std::string_view to_string(ReduceOp op) noexcept;

// Divides each row by the root of its mean square, and multiplies it by weights.
struct RmsNorm {
  BufferOffset weight = {};  // one row: as many elements as the last dimension of the buffer
  BufferOffset to = {};      // as many elements as are reduced
  double epsilon = 0;        // added to the mean square; becomes f32
};

// A step that exchanges contents between the ranks of a group. All of these execute the same ones
// in the same order. With one rank it is a copy, or does nothing beside its epilogue.
struct CollectiveStep {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  BufferOffset buffer = {};
  BufferOffset to = {};  // kAllGather, kReduceScatter
  ReduceOp op = ReduceOp::kSum;
  // kBroadcast, kSend, kReceive: a rank, by its number in the group. A message to or from -1 or the
  // size of the group, beyond the first and the last rank, does nothing.
  std::optional<Expression> peer = {};
  // The elements of one rank; empty: the rest of the buffer, or of `to` for kReduceScatter.
  std::optional<Expression> count = {};
  std::string group = {};  // empty: all ranks
  // What executes the step; empty: what Bindings::collectives says. kPeer is for a kAllReduce.
  std::optional<CollectiveExecutor> by = {};
  // The epilogue of a kAllReduce with a sum, on each rank, of buffers in one dtype: f32, f16 or
  // bf16. First `add` is added to the reduction, which becomes the buffer; `add` has as many
  // elements. Then the norm of the buffer becomes `rms_norm->to`.
  std::optional<BufferOffset> add = {};
  std::optional<RmsNorm> rms_norm = {};
};

struct ProgramStep;

struct RepeatStep {
  Expression count = 0;
  std::string index = {};  // empty: none
  std::vector<ProgramStep> steps;
};

// Executes its steps if the first element of the buffer is not 0 when it comes to them. The buffer
// has an integer dtype or bool.
struct IfStep {
  std::string buffer = {};
  std::vector<ProgramStep> steps;
};

// Executes its steps again and again. It tests the first element of the buffer before each
// iteration, and ends when that is 0. A run that comes to the test after `at_most` iterations and
// finds another value than 0 fails.
struct WhileStep {
  std::string buffer = {};
  Expression at_most = 0;
  Expression unroll = 1;  // iterations in one turn of a graph's loop; no effect on results
  std::vector<ProgramStep> steps;
};

// Executes its branches side by side: as streams, or as branches of a graph. Each branch begins
// when the step before is done, and the step after begins when all branches are done. The steps of
// a branch follow one another. Branches may read the same memory; what one writes, no other may
// touch.
struct ParallelStep {
  std::vector<std::vector<ProgramStep>> branches = {};  // at least two, none of them empty
};

struct ProgramStep {
  std::variant<LaunchStep, CopyStep, FillStep, CollectiveStep, RepeatStep, IfStep, WhileStep,
               ParallelStep>
      action = {};
  SourceLocation where = {};
};

BATON_API bool operator==(const ProgramStep& a, const ProgramStep& b);

}  // namespace baton
