#include "replay/replay_graphs.h"

#include <utility>

#include "driver/driver.h"
#include "record/call_meaning.h"
#include "runtime/context.h"
#include "runtime/release.h"

namespace baton::replay {
namespace {

constexpr const char* kNotReplayed = "its graph was not replayed";

// A symbol without the ending of the threads' default streams.
bool is(const record::RecordedEvent& event, std::string_view symbol) {
  return event.function.starts_with(symbol);
}

}  // namespace

ReplayGraphs::~ReplayGraphs() {
  release_in_context(device_, [this](const driver::Driver& driver) {
    for (const auto& [handle, made] : executables_) {
      BATON_RELEASE(driver, cuGraphExecDestroy, made.handle);
    }
    for (const auto& [handle, graph] : graphs_) {
      if (graph.handle != nullptr) BATON_RELEASE(driver, cuGraphDestroy, graph.handle);
    }
  });
}

std::string ReplayGraphs::begin_capture(const record::RecordedEvent& event, CUstream stream) {
  // A capture into a graph that has nodes, after nodes that the record does not name.
  if (is(event, "cuStreamBeginCaptureToGraph") && event.word(4) != 0) {
    return "the record lacks the nodes that the capture comes after";
  }
  const driver::Driver& driver = device_.driver();
  // The replay makes the calls of all threads from one thread.
  const CUresult result = driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  ++captures_;
  return {};
}

std::string ReplayGraphs::end_capture(const record::RecordedEvent& event, CUstream stream) {
  if (captures_ == 0) return "its beginning was not replayed";
  const driver::Driver& driver = device_.driver();
  Graph graph;
  const CUresult result = driver.cuStreamEndCapture(stream, &graph.handle);
  if (--captures_ == 0) graph.launches = std::exchange(captured_, {});
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  graph.is_captured = true;
  destroy(event.word(1));
  graphs_[event.word(1)] = std::move(graph);
  return {};
}

void ReplayGraphs::destroy(std::uint64_t graph) {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return;
  if (found->second.handle != nullptr) {
    BATON_DRIVER_CALL_QUIETLY(device_.driver(), cuGraphDestroy, found->second.handle);
  }
  graphs_.erase(found);
}

void ReplayGraphs::add(std::uint64_t graph, CUgraph handle, std::string lacks,
                       std::vector<std::size_t> launches) {
  destroy(graph);
  graphs_[graph] = {handle, std::move(lacks), false, std::move(launches)};
}

bool ReplayGraphs::is_captured(std::uint64_t graph) const {
  const auto found = graphs_.find(graph);
  return found != graphs_.end() && found->second.is_captured;
}

CUgraphExec ReplayGraphs::executable(std::uint64_t graph) const {
  const auto found = executables_.find(graph);
  return found == executables_.end() ? nullptr : found->second.handle;
}

void ReplayGraphs::add_launch(std::uint64_t executable, std::size_t launch) {
  executables_[executable].launches.push_back(launch);
}

std::string ReplayGraphs::instantiate(std::uint64_t executable, const Graph& graph) {
  const driver::Driver& driver = device_.driver();
  Executable made{nullptr, graph.launches};
  const CUresult result = driver.cuGraphInstantiateWithFlags(&made.handle, graph.handle, 0);
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  if (const auto old = executables_.find(executable); old != executables_.end()) {
    BATON_DRIVER_CALL_QUIETLY(driver, cuGraphExecDestroy, old->second.handle);
  }
  executables_[executable] = std::move(made);
  return {};
}

std::string ReplayGraphs::update(std::uint64_t executable, const Graph& graph) {
  const auto made = executables_.find(executable);
  if (made == executables_.end()) return kNotReplayed;
  const driver::Driver& driver = device_.driver();
  CUgraphExecUpdateResultInfo info = {};
  const CUresult result = driver.cuGraphExecUpdate(made->second.handle, graph.handle, &info);
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  made->second.launches = graph.launches;
  return {};
}

std::string ReplayGraphs::follow(const record::RecordedEvent& event) {
  const driver::Driver& driver = device_.driver();
  if (is(event, "cuGraphUpload")) return {};
  if (is(event, "cuGraphDestroy")) {
    destroy(event.word(0));
    return {};
  }
  if (is(event, "cuGraphExecDestroy")) {
    if (const auto found = executables_.find(event.word(0)); found != executables_.end()) {
      BATON_DRIVER_CALL_QUIETLY(driver, cuGraphExecDestroy, found->second.handle);
      executables_.erase(found);
    }
    return {};
  }
  const bool instantiates = is(event, "cuGraphInstantiate");
  if (instantiates || is(event, "cuGraphExecUpdate")) {
    const auto graph = graphs_.find(event.word(1));
    if (graph == graphs_.end()) return kNotReplayed;
    if (!graph->second.lacks.empty()) return graph->second.lacks;
    return instantiates ? instantiate(event.word(0), graph->second)
                        : update(event.word(0), graph->second);
  }
  // Nodes of graphs without a capture are added when these are instantiated.
  if (const auto graph = graphs_.find(event.word(1));
      graph != graphs_.end() && graph->second.is_captured && graph->second.lacks.empty()) {
    graph->second.lacks = "a node that was added to a captured graph is not replayed";
  }
  if (!is(event, "cuGraphExec")) return {};
  // The graph no longer matches that of the process.
  if (const auto made = executables_.find(event.word(0)); made != executables_.end()) {
    BATON_DRIVER_CALL_QUIETLY(driver, cuGraphExecDestroy, made->second.handle);
    executables_.erase(made);
  }
  return "the record does not say which node it changes";
}

ReplayGraphs::GraphLaunch ReplayGraphs::launch(const record::RecordedEvent& event,
                                               CUstream stream) {
  const auto made = executables_.find(event.word(0));
  if (made == executables_.end()) return {kNotReplayed, {}};
  const driver::Driver& driver = device_.driver();
  const CUresult result = driver.cuGraphLaunch(made->second.handle, stream);
  if (result != CUDA_SUCCESS) return {driver::describe(driver, result), {}};
  return {{}, made->second.launches};
}

}  // namespace baton::replay
