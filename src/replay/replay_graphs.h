#pragma once

// The captures and graphs of a recorded process in a replay.

#include <cuda.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "baton/device.h"
#include "record/events.h"

namespace baton::replay {

// A function returns why it did not follow an event; empty: it did. Not thread-safe.
class ReplayGraphs {
 public:
  explicit ReplayGraphs(const Device& device) : device_(device) {}
  // None of them may run.
  ~ReplayGraphs();
  ReplayGraphs(const ReplayGraphs&) = delete;
  ReplayGraphs& operator=(const ReplayGraphs&) = delete;

  std::string begin_capture(const record::RecordedEvent& event, CUstream stream);
  std::string end_capture(const record::RecordedEvent& event, CUstream stream);
  bool is_capturing() const { return captures_ != 0; }
  // A launch became part of the capture.
  void add_launch(std::size_t launch) { captured_.push_back(launch); }

  // A graph that was built without a capture, or why it was not.
  void add(std::uint64_t graph, CUgraph handle, std::string lacks,
           std::vector<std::size_t> launches);
  // Whether a capture made the graph.
  bool is_captured(std::uint64_t graph) const;
  // The handle of an instantiated graph; null: it is not replayed.
  CUgraphExec executable(std::uint64_t graph) const;
  // A launch replaced one of an instantiated graph.
  void add_launch(std::uint64_t executable, std::size_t launch);

  // Calls that make, change and end graphs.
  std::string follow(const record::RecordedEvent& event);

  // The launches that it has.
  struct GraphLaunch {
    std::string why;
    std::vector<std::size_t> launches;
  };
  GraphLaunch launch(const record::RecordedEvent& event, CUstream stream);

 private:
  struct Graph {
    CUgraph handle = nullptr;
    std::string lacks;  // why it is not complete; empty: it is
    bool is_captured = false;
    std::vector<std::size_t> launches;
  };
  struct Executable {
    CUgraphExec handle = nullptr;
    std::vector<std::size_t> launches;
  };

  void destroy(std::uint64_t graph);
  std::string instantiate(std::uint64_t executable, const Graph& graph);
  std::string update(std::uint64_t executable, const Graph& graph);

  const Device device_;
  std::map<std::uint64_t, Graph> graphs_;
  std::map<std::uint64_t, Executable> executables_;
  std::vector<std::size_t> captured_;
  unsigned captures_ = 0;
};

}  // namespace baton::replay
