#pragma once

// One launch of a record in a replay: its arguments with the replay's addresses, and its
// attributes.

#include <cuda.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "baton/device.h"
#include "record/events.h"
#include "replay/replay_memory.h"
#include "replay/replay_modules.h"
#include "replay/replay_streams.h"

namespace baton::replay {

class ReplayLaunch {
 public:
  ReplayLaunch(const record::RecordedLaunch& recorded, ReplayedKernel& kernel,
               const ReplayMemory& memory);

  // Whether its arguments are in the record.
  bool is_known() const { return is_known_; }
  // The memories that its arguments are addresses of.
  const std::set<std::size_t>& given() const { return moved_.memories; }

  // Returns why it was not launched; empty: it was. Its findings have the number.
  std::string submit(const Device& device, ReplayStreams& streams, CUstream stream,
                     std::uint64_t number);
  // Adds it to a graph as a node of its own; likewise.
  std::string add_node(const Device& device, ReplayStreams& streams, CUgraph graph,
                       std::uint64_t number, CUgraphNode* node);
  // Gives a node of an instantiated graph its parameters; likewise.
  std::string update_node(const Device& device, CUgraphExec graph, CUgraphNode node,
                          std::uint64_t number);

 private:
  std::string objection() const;
  // The driver's alternative to an array of parameters. It refers to this object.
  struct Extra {
    explicit Extra(std::string& params)
        : size(params.size()),
          words{CU_LAUNCH_PARAM_BUFFER_POINTER, params.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                CU_LAUNCH_PARAM_END} {}
    Extra(const Extra&) = delete;
    Extra& operator=(const Extra&) = delete;
    std::size_t size;
    void* words[5];
  };

  std::vector<CUlaunchAttribute> attributes(ReplayStreams& streams) const;
  CUDA_KERNEL_NODE_PARAMS node_params(Extra& extra) const;
  void raise_limits(const Device& device);

  const record::RecordedLaunch& recorded_;
  ReplayedKernel& kernel_;
  std::string params_;
  bool is_known_ = false;
  Moved moved_;  // of its arguments
};

}  // namespace baton::replay
