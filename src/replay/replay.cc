#include "replay/replay.h"

#include <cuda.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "pdl/footprint/unseen.h"
#include "record/call_meaning.h"
#include "record/recorded_graphs.h"
#include "record/stream_key.h"
#include "replay/allocations.h"
#include "replay/copies.h"
#include "replay/doubts.h"
#include "replay/graph_builder.h"
#include "replay/replay_graphs.h"
#include "replay/replay_launch.h"
#include "replay/replay_memory.h"
#include "replay/replay_modules.h"
#include "replay/replay_streams.h"
#include "replay/tensor_maps.h"
#include "replay/watchdog.h"
#include "runtime/context.h"
#include "runtime/findings.h"
#include "runtime/release.h"

namespace baton::replay {
namespace {

using driver::Simulator;
using record::CallMeaning;
using record::RecordedCall;
using record::RecordedEvent;
using Kind = ReplayedMemory::Kind;

// Between two reports of progress.
constexpr std::uint64_t kProgressEvents = 256;

class Replayer {
 public:
  Replayer(const Device& device, const record::ProcessRecord& process, const RecordFiles& files,
           const ReplayOptions& options)
      : device_(device), context_(device), process_(process), files_(files), options_(options) {}

  // Waits for all work before memory and handles are released.
  ~Replayer() { driver().cuCtxSynchronize(); }
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  ReplayResult run() {
    Simulator::Options asked;
    asked.schedule = options_.schedule;
    asked.watch = Simulator::Watch::kOn;
    asked.races = options_.races;
    asked.alone = true;
    asked.keep_going = true;
    const auto session = simulator().begin(device_.native_context(), asked);
    Watchdog watchdog(device_, options_.timeout, options_.interrupt);
    std::uint64_t done = 0;
    for (const RecordedEvent& event : process_.events) {
      if (options_.progress && done % kProgressEvents == 0) {
        options_.progress(done, process_.events.size());
      }
      ++done;
      watchdog.check();
      follow(event);
    }
    wait(driver().cuCtxSynchronize(), "cuCtxSynchronize");
    watchdog.check();
    collect(session->take_findings());
    return std::move(result_);
  }

 private:
  const driver::Driver& driver() const { return device_.driver(); }
  Simulator& simulator() const { return *driver().simulator; }

  void leave_out(std::string what, std::uint64_t count = 1) { left_out_[std::move(what)] += count; }

  // A fault of other work than a kernel, such as a copy of freed memory, does not end the context.
  void recover(CUresult result) {
    if (is_sticky(result)) simulator().recover(device_.native_context());
  }

  bool wait(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return true;
    leave_out(fmt::format("{} ({})", call, driver::describe(driver(), result)));
    recover(result);
    return false;
  }

  // --- Events ------------------------------------------------------------------------------------

  void follow(const RecordedEvent& event) {
    modules_.follow(event);
    recorded_graphs_.follow(event);
    switch (event.kind) {
      case record::EventKind::kCall:
        call(event);
        details_.erase(event.thread);
        nodes_.erase(event.thread);
        return;
      case record::EventKind::kLaunch:
        return launch(event);
      case record::EventKind::kContents:
        details_[event.thread].contents = files_.contents(record::contents_of(event));
        return;
      case record::EventKind::kStructure:
        details_[event.thread].structure = record::structure_of(event);
        return;
      case record::EventKind::kVariable:
        if (!allocations_.add_variable(event, modules_)) {
          leave_out(fmt::format("the variable {}: its module is not replayed", event.text));
        }
        return;
      case record::EventKind::kTensorMap:
        return tensor_maps_.follow(event);
      case record::EventKind::kNode:
        nodes_[event.thread] = record::node_of(event);
        return;
      case record::EventKind::kName:
      case record::EventKind::kImage:
      case record::EventKind::kFunction:
      case record::EventKind::kRemark:
        return;
    }
  }

  void call(const RecordedEvent& event) {
    const RecordedCall* const row = record::find_call(event.function);
    if (row == nullptr || !event.succeeded()) return;
    const auto handle = [&](std::size_t word) { return event.word(word); };
    switch (row->meaning) {
      case CallMeaning::kAllocate:
      case CallMeaning::kAllocatePitch:
        return submitted(event, allocations_.allocate(event, *row, stream(event, *row)));
      case CallMeaning::kFree:
        return told(allocations_.free(event, *row, stream(event, *row)), event);
      case CallMeaning::kMap:
        return submitted(event, allocations_.map(event));
      case CallMeaning::kUnmap:
        return allocations_.unmap(event);
      case CallMeaning::kCopy:
        return copy(event, *row);
      case CallMeaning::kFill:
        ++result_.fills;
        return submitted(event, copies_.fill(event, stream(event, *row)));
      case CallMeaning::kStreamWork:
        return stream_work(event);
      case CallMeaning::kHostFunction:
        // The record lacks the function's own work on the host, but has its place in the order.
        wait(driver().cuLaunchHostFunc(
                 stream(event, *row), [](void*) {}, nullptr),
             "cuLaunchHostFunc");
        return;
      case CallMeaning::kStreamCreate:
        return streams_.create(handle(0), static_cast<unsigned>(handle(1)));
      case CallMeaning::kStreamDestroy:
        return streams_.destroy(record::stream_of(handle(0), event));
      case CallMeaning::kSynchronize:
        return synchronize(event, *row);
      case CallMeaning::kEventCreate:
        return streams_.create_event(handle(0), static_cast<unsigned>(handle(1)));
      case CallMeaning::kEventDestroy:
        return streams_.destroy_event(handle(0));
      case CallMeaning::kEventRecord:
        wait(driver().cuEventRecord(streams_.event(handle(0)), stream(event, *row)),
             "cuEventRecord");
        return;
      case CallMeaning::kEventWait:
        wait(driver().cuStreamWaitEvent(stream(event, *row), streams_.event(handle(1)),
                                        static_cast<unsigned>(handle(2))),
             "cuStreamWaitEvent");
        return;
      case CallMeaning::kCaptureBegin:
        return told(graphs_.begin_capture(event, stream(event, *row)), event);
      case CallMeaning::kCaptureEnd:
        return told(graphs_.end_capture(event, stream(event, *row)), event);
      case CallMeaning::kGraphInstantiate:
        build_graph(handle(1));
        return told(graphs_.follow(event), event);
      case CallMeaning::kGraph:
        if (event.function.starts_with("cuGraphExecUpdate")) build_graph(handle(1));
        return told(graphs_.follow(event), event);
      case CallMeaning::kGraphKernelNode:
        if (update_node(event)) return;
        return told(graphs_.follow(event), event);
      case CallMeaning::kGraphLaunch:
        return launch_graph(event, *row);
      case CallMeaning::kUnload:
        return modules_.unload(handle(0));
      case CallMeaning::kModuleOfLibrary:
        return;
    }
  }

  CUstream stream(const RecordedEvent& event, const RecordedCall& row) {
    const std::uint64_t handle =
        row.stream < 0 ? 0 : event.word(static_cast<std::size_t>(row.stream));
    return streams_.stream(record::stream_of(handle, event));
  }

  // `why`: empty if it was replayed.
  void told(const std::string& why, const RecordedEvent& event) {
    if (!why.empty()) leave_out(fmt::format("{}: {}", event.function, why));
  }

  // The same for work that writes memory.
  void submitted(const RecordedEvent& event, const std::string& why) {
    if (why.empty()) return;
    told(why, event);
    doubts_.lose_writes();
  }

  // --- Work --------------------------------------------------------------------------------------

  void copy(const RecordedEvent& event, const RecordedCall& row) {
    ++result_.copies;
    const record::CopyShape shape = record::copy_shape(event.function);
    const CUstream into = stream(event, row);
    submitted(event, copies_.copy(event, shape, std::move(details_[event.thread]), into,
                                  graphs_.is_capturing()));
    if (row.stream < 0 && shape != record::CopyShape::kDeviceToDevice) {
      wait(driver().cuStreamSynchronize(into), "cuStreamSynchronize");
    }
  }

  // --- Order -------------------------------------------------------------------------------------

  void synchronize(const RecordedEvent& event, const RecordedCall& row) {
    if (row.stream >= 0) {
      wait(driver().cuStreamSynchronize(stream(event, row)), "cuStreamSynchronize");
    } else if (event.function.starts_with("cuEvent")) {
      wait(driver().cuEventSynchronize(streams_.event(event.word(0))), "cuEventSynchronize");
    } else {
      wait(driver().cuCtxSynchronize(), "cuCtxSynchronize");
    }
  }

  void stream_work(const RecordedEvent& event) {
    // The place of memory does not change its contents.
    for (const std::string_view place : {"cuMemPrefetch", "cuStreamAttachMem"}) {
      if (event.function.starts_with(place)) return;
    }
    leave_out(fmt::format("{}: the simulated GPU does not support it", event.function));
    doubts_.lose_order();
    doubts_.lose_writes();
  }

  // --- Launches ----------------------------------------------------------------------------------

  // The next launch of the process, which `make` makes. Returns why it was not made; empty: it was
  // made, and is the last launch of the list.
  template <typename Make>
  std::string next_launch(const record::RecordedLaunch& recorded, const Make& make) {
    const std::uint64_t number = result_.launches++;
    ReplayedKernel& kernel = modules_.kernel(recorded.note.function);
    kernels_.push_back(&kernel.recorded->readable);
    ReplayLaunch launch(recorded, kernel, memory_);
    std::set<std::size_t> given = launch.given();
    const std::set<std::size_t>& variables = allocations_.variables(kernel.recorded->module);
    given.insert(variables.begin(), variables.end());
    const std::string why = kernel.refusal.empty() ? make(launch, number) : kernel.refusal;
    if (why.empty()) {
      ++result_.replayed;
      launched_.push_back({number, std::move(given), kernel.follows_contents});
      return {};
    }
    leave_out(fmt::format("launches of {}: {}", kernel.recorded->readable, why));
    if (launch.is_known()) {
      doubts_.lose_writes(given);
    } else {
      doubts_.lose_writes();
    }
    return why;
  }

  void launch(const RecordedEvent& event) {
    if (!event.succeeded() && event.result != record::kNotReturned) return;
    const record::RecordedLaunch recorded = record::launch_of(event);
    const CUstream into = streams_.stream(record::stream_of(recorded.note.stream, event));
    const std::string why = next_launch(recorded, [&](ReplayLaunch& launch, std::uint64_t number) {
      return launch.submit(device_, streams_, into, number);
    });
    if (!why.empty()) return;
    if (graphs_.is_capturing()) {
      graphs_.add_launch(launched_.size() - 1);
    } else {
      doubt(launched_.back());
    }
  }

  // A graph that was built without a capture, as it is now.
  void build_graph(std::uint64_t handle) {
    const record::GraphOfRecord* const graph = recorded_graphs_.find(handle);
    if (graph == nullptr || graphs_.is_captured(handle)) return;
    const std::size_t first = launched_.size();
    std::string lacks;
    const CUgraph built = builder_.build(
        *graph,
        [this](const record::RecordedLaunch& recorded, CUgraph into, CUgraphNode* node) {
          return next_launch(recorded, [&](ReplayLaunch& launch, std::uint64_t number) {
            return launch.add_node(device_, streams_, into, number, node);
          });
        },
        lacks);
    std::vector<std::size_t> launches(launched_.size() - first);
    std::iota(launches.begin(), launches.end(), first);
    graphs_.add(handle, built, std::move(lacks), std::move(launches));
  }

  // Whether the call gives a known node of an instantiated graph other parameters.
  bool update_node(const RecordedEvent& event) {
    const CUgraphExec graph = graphs_.executable(event.word(0));
    const CUgraphNode node = builder_.node(event.word(1));
    const auto noted = nodes_.find(event.thread);
    if (graph == nullptr || node == nullptr || noted == nodes_.end()) return false;
    const std::string why =
        next_launch(noted->second.launch, [&](ReplayLaunch& launch, std::uint64_t number) {
          return launch.update_node(device_, graph, node, number);
        });
    if (why.empty()) graphs_.add_launch(event.word(0), launched_.size() - 1);
    return why.empty();
  }

  void launch_graph(const RecordedEvent& event, const RecordedCall& row) {
    const auto launches = graphs_.launch(event, stream(event, row));
    if (!launches.why.empty()) {
      told(launches.why, event);
      doubts_.lose_writes();
      return;
    }
    ++result_.graph_launches;
    for (const std::size_t each : launches.launches) doubt(launched_[each]);
  }

  struct Launched {
    std::uint64_t number = 0;
    std::set<std::size_t> given;
    bool follows_contents = true;
  };

  void doubt(const Launched& launch) {
    doubts_.launch(launch.number, launch.given, launch.follows_contents);
  }

  // --- The end -----------------------------------------------------------------------------------

  void collect(std::vector<driver::Finding> findings) {
    for (driver::Finding& finding : findings) {
      ReplayedFinding& found = result_.findings.emplace_back();
      found.doubt = doubts_.of(finding);
      const auto tag = finding.tag;
      found.report = to_report(std::move(finding));
      if (tag && *tag < kernels_.size()) {
        found.report.launch = fmt::format("launch {} ({})", *tag, *kernels_[*tag]);
      }
    }
    for (const ReplayedMemory& memory : memory_.all()) {
      const bool is_host = memory.kind == Kind::kHost;
      if (memory.unknown_bytes == 0 && !is_host) continue;
      result_.unknown.push_back({memory.name, memory.bytes, memory.unknown_bytes, is_host});
    }
    for (const auto& [what, count] : left_out_) result_.left_out.push_back({what, count});
    result_.moved_addresses = copies_.moved_addresses();
    result_.remarks = modules_.remarks();
  }

  const Device device_;
  const ContextGuard context_;
  const record::ProcessRecord& process_;
  const RecordFiles& files_;
  const ReplayOptions& options_;
  ReplayTensorMaps tensor_maps_{device_};
  ReplayMemory memory_{&tensor_maps_};
  ReplayAllocations allocations_{device_, memory_};
  ReplayModules modules_{device_, files_.image};
  ReplayStreams streams_{device_};
  ReplayGraphs graphs_{device_};
  ReplayCopies copies_{device_, memory_};
  record::RecordedGraphs recorded_graphs_;
  GraphBuilder builder_{device_, copies_};
  Doubts doubts_{memory_};
  std::map<std::uint32_t, CopyDetails> details_;         // of the next call, by thread
  std::map<std::uint32_t, record::RecordedNode> nodes_;  // likewise
  std::vector<Launched> launched_;
  std::vector<const std::string*> kernels_;  // by launch
  std::map<std::string, std::uint64_t> left_out_;
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const Device& device, const record::ProcessRecord& process,
                    const RecordFiles& files, const ReplayOptions& options) {
  return Replayer(device, process, files, options).run();
}

}  // namespace baton::replay
