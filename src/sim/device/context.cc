#include "sim/device/context.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"
#include "sim/device/settings.h"
#include "sim/engine/memory/memory_impl.h"
#include "sim/queue/launch.h"

namespace baton::sim {
namespace {

bool set_condition(int ordinal, std::uint64_t handle, std::uint32_t value) {
  const auto found = Objects::instance().conditions.find(to_handle(handle));
  if (found == nullptr || found->ordinal != ordinal) return false;
  found->value = value;
  return true;
}

EngineConfig engine_config(int ordinal, const Profile& profile,
                           std::shared_ptr<const TextureTable> textures) {
  EngineConfig config;
  config.set_condition = [ordinal](std::uint64_t handle, std::uint32_t value) {
    return set_condition(ordinal, handle, value);
  };
  config.chip = &profile.chip();
  config.sm_count = profile.at(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  config.clock_khz = static_cast<std::uint32_t>(profile.at(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  config.watch_shared = true;
  config.debugger = settings().debugger;
  config.textures = std::move(textures);
  return config;
}

// Findings that are told one by one when no caller took them.
constexpr std::size_t kMostTold = 8;

bool is_pending(const CommandPtr& command) {
  return command != nullptr && !command->done();
}

// A stream's work as a node's, or nothing for what a graph cannot do. Bytes that were staged are
// not kept: a graph reads its source when it runs.
std::optional<NodeWork> node_work(Work work) {
  if (auto* copy = std::get_if<Copy>(&work)) {
    return CopyWork{copy->target, copy->source, copy->bytes, copy->rows, copy->slices};
  }
  if (auto* fill = std::get_if<Fill>(&work)) return *fill;
  if (auto* call = std::get_if<HostCall>(&work)) return *call;
  if (std::holds_alternative<Join>(work)) return NodeWork{};
  return std::nullopt;
}

// The edge to who waits for an event that a kernel records before it has completed.
CUgraphEdgeData early_edge() {
  CUgraphEdgeData data{};
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  return data;
}

}  // namespace

Context::Context(int ordinal, const Profile& profile)
    : ordinal_(ordinal),
      profile_(profile),
      heap_(std::make_shared<DeviceHeap>(ordinal, profile.memory_bytes())),
      textures_(std::make_shared<TextureTable>()),
      engine_(engine_config(ordinal, profile, textures_), heap_->memory()),
      queue_(engine_, ordinal) {
  const driver::Simulator::Options& common = settings().common;
  if (common.watch == driver::Simulator::Watch::kOn || common.races != Races::kUsual) {
    expect_overlap();
  }
}

std::shared_ptr<SimStream> Context::make_stream(SimStream::Kind kind, int priority,
                                                std::shared_ptr<const GreenContext> green) {
  auto stream = std::make_shared<SimStream>(shared_from_this(), kind, priority, std::move(green));
  if (streams_.fetch_add(1) != 0) expect_overlap();
  if (kind == SimStream::Kind::kBlocking) {
    Lock lock(Scheduler::instance().mutex);
    forget_destroyed(lock);
    blocking_.push_back(stream);
  }
  return stream;
}

CUresult Context::destroy(SimStream& stream) {
  Lock lock(Scheduler::instance().mutex);
  stream.destroyed = true;
  return queue_.error(lock);
}

void Context::destroy_thread_stream() {
  Lock lock(Scheduler::instance().mutex);
  const auto found = thread_streams_.find(std::this_thread::get_id());
  if (found == thread_streams_.end()) return;
  found->second->destroyed = true;
  thread_streams_.erase(found);
}

// The legacy stream waits for what is in the others, also where they were destroyed meanwhile.
void Context::forget_destroyed(const Lock&) {
  std::erase_if(blocking_, [](const std::shared_ptr<SimStream>& stream) {
    return stream->destroyed && !is_pending(stream->tail);
  });
}

std::shared_ptr<SimStream> Context::legacy_stream() {
  std::lock_guard lock(Scheduler::instance().mutex);
  if (legacy_ == nullptr) {
    legacy_ = std::make_shared<SimStream>(shared_from_this(), SimStream::Kind::kLegacy, 0);
  }
  return legacy_;
}

std::shared_ptr<SimStream> Context::thread_stream() {
  Lock lock(Scheduler::instance().mutex);
  std::shared_ptr<SimStream>& stream = thread_streams_[std::this_thread::get_id()];
  if (stream == nullptr) {
    stream = std::make_shared<SimStream>(shared_from_this(), SimStream::Kind::kBlocking, 0);
    forget_destroyed(lock);
    blocking_.push_back(stream);
  }
  return stream;
}

// What a new command of the stream comes after by the order of streams alone (CUDA programming
// guide, "Implicit Synchronization" and "Default Stream").
std::vector<Dependency> Context::predecessors(const Lock& lock, const SimStream& stream) {
  std::vector<Dependency> before;
  const auto add = [&](const SimStream& earlier) {
    for (const CommandPtr& last : {earlier.tail, earlier.allocated}) {
      if (last != nullptr) before.push_back({last});
    }
  };
  add(stream);
  if (stream.kind == SimStream::Kind::kBlocking && legacy_ != nullptr) add(*legacy_);
  if (stream.kind == SimStream::Kind::kLegacy) {
    for (const std::shared_ptr<SimStream>& other : blocking_) add(*other);
    forget_destroyed(lock);
  }
  return before;
}

// What is not allowed on a stream that is being captured ends the capture.
void Context::forbid_in_capture(const Lock&, const SimStream& stream) {
  if (stream.capture.capture == nullptr) return;
  stream.capture.capture->invalidated = true;
  throw Refusal(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CommandPtr Context::submit(const Lock& lock, SimStream& stream, Work work,
                           std::span<const Dependency> after) {
  require(queue_.error(lock) == CUDA_SUCCESS, queue_.error(lock));
  if (stream.capture.capture != nullptr) {
    std::optional<NodeWork> node = node_work(std::move(work));
    if (!node) forbid_in_capture(lock, stream);
    capture_node(stream.capture, std::move(*node));
    return nullptr;
  }
  refuse_beside_capture(lock, stream);
  const bool is_record = std::holds_alternative<Record>(work);
  std::vector<Dependency> before = predecessors(lock, stream);
  before.insert(before.end(), after.begin(), after.end());
  stream.tail = queue_.submit(lock, std::move(work), stream.priority, before);
  stream.allocated = nullptr;
  if (!is_record) stream.last_grid = nullptr;
  return stream.tail;
}

// A dependent launch overlaps the grid before it in the stream. What comes after both waits for
// both: a grid that never waits for its primary may be done before it.
CommandPtr Context::submit_grid(const Lock& lock, SimStream& stream, GridLaunch launch,
                                bool is_dependent) {
  require(queue_.error(lock) == CUDA_SUCCESS, queue_.error(lock));
  refuse_beside_capture(lock, stream);
  if (is_dependent) expect_overlap();
  CommandPtr grid;
  if (is_dependent && stream.last_grid != nullptr) {
    const Dependency before[] = {{stream.last_grid, Milestone::kTriggered, true},
                                 {stream.allocated}};
    grid = queue_.submit(lock, std::move(launch), stream.priority, before);
    const Dependency both[] = {{grid}, {stream.tail}};
    stream.tail = queue_.submit(lock, Join{}, stream.priority, both);
  } else {
    stream.tail = grid =
        queue_.submit(lock, std::move(launch), stream.priority, predecessors(lock, stream));
  }
  stream.allocated = nullptr;
  if (stream.counted) {
    grid->counted = std::make_shared<driver::Counters>();
    stream.counted->push_back(grid);
  }
  stream.last_grid = grid;
  return grid;
}

// Work of the legacy stream would have to wait for what is only being captured.
void Context::refuse_beside_capture(const Lock&, const SimStream& stream) {
  if (stream.kind != SimStream::Kind::kLegacy) return;
  for (const std::shared_ptr<SimStream>& other : blocking_) {
    if (other->capture.capture == nullptr) continue;
    other->capture.capture->invalidated = true;
    throw Refusal(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  }
}

// Grids may run beside each other from now on: a stream was made beside another one, a module was
// placed whose kernels wait for others, a launch or a graph is programmatic, or a session asked for
// it. What ran before that was not watched.
void Context::expect_overlap() {
  heap_->memory().impl().watch();
}

CommandPtr Context::submit(SimStream& stream, Work work, std::span<const Dependency> after) {
  Lock lock(Scheduler::instance().mutex);
  return submit(lock, stream, std::move(work), after);
}

void Context::record(const Lock& lock, SimEvent& event, SimStream& stream) {
  auto occurrence = std::make_shared<Occurrence>();
  event.recorded = submit(lock, stream, Record{occurrence}, {});
  event.occurrence = std::move(occurrence);
  event.captured = {};
}

void Context::record(SimEvent& event, SimStream& stream) {
  Lock lock(Scheduler::instance().mutex);
  if (stream.capture.capture == nullptr) return record(lock, event, stream);
  require(!stream.capture.capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  event.captured = stream.capture;
}

void Context::record_all(SimEvent& event) {
  Lock lock(Scheduler::instance().mutex);
  require(queue_.error(lock) == CUDA_SUCCESS, queue_.error(lock));
  auto occurrence = std::make_shared<Occurrence>();
  event.recorded = queue_.submit_after_all(lock, Record{occurrence});
  event.occurrence = std::move(occurrence);
  event.captured = {};
}

void Context::wait_event(const std::shared_ptr<SimStream>& stream,
                         const std::shared_ptr<SimEvent>& event, bool external) {
  Lock lock(Scheduler::instance().mutex);
  if (event->captured.capture != nullptr) return capture_wait(stream, event->captured);
  const CommandPtr awaited = event->recorded;
  if (stream->capture.capture != nullptr && !external) {
    if (awaited == nullptr) return;
    stream->capture.capture->invalidated = true;
    throw Refusal(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  if (stream->capture.capture != nullptr) {
    capture_node(stream->capture, WaitWork{event});
    return;
  }
  const Dependency after[] = {{awaited}};
  if (awaited != nullptr) submit(lock, *stream, Join{}, after);
}

std::shared_ptr<GraphNode> Context::launch(SimStream& stream, KernelWork work,
                                           const LaunchRequest& request) {
  Lock lock(Scheduler::instance().mutex);
  if (stream.capture.capture == nullptr) {
    require(!request.device_updatable, CUDA_ERROR_NOT_SUPPORTED);
    const CommandPtr grid = submit_grid(lock, stream, std::move(work.launch), request.is_dependent);
    for (const LaunchRequest::EarlyEvent& early : request.events) {
      expect_overlap();
      auto occurrence = std::make_shared<Occurrence>();
      const Dependency after[] = {{grid, early.at, early.at == Milestone::kTriggered}};
      early.event->recorded = queue_.submit(lock, Record{occurrence}, stream.priority, after);
      early.event->occurrence = std::move(occurrence);
      early.event->captured = {};
    }
    return nullptr;
  }
  std::shared_ptr<GraphNode> node =
      capture_node(stream.capture, std::move(work), request.is_dependent);
  for (const LaunchRequest::EarlyEvent& early : request.events) {
    early.event->captured = stream.capture;
    for (GraphDependency& edge : early.event->captured.frontier) edge.data = early_edge();
  }
  return node;
}

void Context::launch(SimStream& stream, GraphExec& exec) {
  Lock lock(Scheduler::instance().mutex);
  require(queue_.error(lock) == CUDA_SUCCESS, queue_.error(lock));
  forbid_in_capture(lock, stream);
  if (exec.is_programmatic) expect_overlap();
  const auto submit = [&](Work work, std::span<const Dependency> after) {
    return queue_.submit(lock, std::move(work), stream.priority, after);
  };
  std::vector<Dependency> before = predecessors(lock, stream);
  before.push_back({exec.last});
  for (Free& free : take_memory(exec)) before = {{submit(std::move(free), before)}};
  if (!exec.assigned.empty()) before = {{submit(Assign{exec.assigned}, before)}};
  exec.begin_counting();
  const std::vector<CommandPtr> commands = submit_steps(exec.steps, before, submit);
  std::vector<Dependency> ends = before;
  for (std::size_t k = 0; k < commands.size(); ++k) {
    if (!exec.steps[k].has_next) ends.push_back({commands[k]});
  }
  stream.last_grid = nullptr;
  stream.allocated = nullptr;
  if (exec.references == nullptr) {
    exec.last = stream.tail = submit(Join{}, ends);
    return;
  }
  // What users gave the graph stays until the launch is over.
  const auto nothing = [](void*) {};
  exec.last = stream.tail = submit(HostCall{nothing, nullptr, exec.references}, ends);
}

bool Context::is_idle(SimStream& stream) {
  Lock lock(Scheduler::instance().mutex);
  forbid_in_capture(lock, stream);
  const std::vector<Dependency> before =
      stream.kind == SimStream::Kind::kLegacy
          ? predecessors(lock, stream)
          : std::vector<Dependency>{{stream.tail}, {stream.allocated}};
  return std::all_of(before.begin(), before.end(),
                     [&](const Dependency& each) { return DeviceQueue::poll(lock, each.command); });
}

void Context::synchronize(SimStream& stream) {
  Lock lock(Scheduler::instance().mutex);
  forbid_in_capture(lock, stream);
  if (stream.kind == SimStream::Kind::kLegacy) {
    for (const Dependency& each : predecessors(lock, stream)) {
      DeviceQueue::wait(lock, each.command);
    }
  } else {
    const CommandPtr last = stream.tail, allocated = stream.allocated;
    DeviceQueue::wait(lock, last);
    DeviceQueue::wait(lock, allocated);
  }
}

// The memory is there at once, so the allocation comes after nothing: what stands before it in the
// stream goes on, and a dependent launch still overlaps the grid before it.
void Context::note_allocation(SimStream& stream, std::uint64_t address) {
  Lock lock(Scheduler::instance().mutex);
  const Dependency before[] = {{stream.allocated}};
  const CommandPtr made = queue_.submit(lock, Allocated{}, stream.priority, before);
  if (made->number == 0) return;  // the context failed
  stream.allocated = made;
  heap_->memory().impl().set_origin(address, made->number);
}

std::shared_ptr<LoadedModule> Context::place(const SimLibrary& library) {
  std::lock_guard lock(modules_mutex_);
  require(!closed_, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const auto known = modules_.find(&library);
  if (known != modules_.end()) return known->second;
  const LibraryCode& code = library.on(profile_.chip());
  auto module = LoadedModule::load(code.ptx, heap_->memory(), profile_.chip());
  library.managed().place(module, ordinal_);
  modules_.emplace(&library, module);
  if (code.may_wait) expect_overlap();
  return module;
}

std::shared_ptr<SimFunction> Context::function(const std::shared_ptr<SimKernel>& kernel) {
  std::shared_ptr<LoadedModule> module = place(kernel->library());
  std::lock_guard lock(modules_mutex_);
  require(!closed_, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const auto known = functions_.find(kernel.get());
  if (known != functions_.end()) return known->second;
  const LoadedKernel* loaded = module->kernel(kernel->name());
  require(loaded != nullptr, CUDA_ERROR_NOT_FOUND);
  auto function =
      std::make_shared<SimFunction>(kernel, shared_from_this(), std::move(module), loaded);
  kernel->attach(ordinal_, function);
  function->set_handle(Objects::instance().functions.add(function));
  functions_.emplace(kernel.get(), function);
  return function;
}

void Context::unload(const SimLibrary& library) {
  {
    // What runs here may wait for another device, whose library this is.
    std::lock_guard lock(modules_mutex_);
    if (!modules_.contains(&library)) return;
  }
  queue_.drain();
  std::lock_guard lock(modules_mutex_);
  std::erase_if(functions_,
                [&](const auto& entry) { return &entry.second->kernel()->library() == &library; });
  modules_.erase(&library);
}

void Context::note_finding(driver::Finding finding) {
  NotesPtr notes;
  {
    std::lock_guard lock(Scheduler::instance().mutex);
    notes = queue_.sessions().of_caller();
    if (notes == nullptr) notes = queue_.sessions().common();
  }
  notes->findings.add(std::move(finding));
}

void Context::tell_leaks() {
  const DeviceHeap::Leaks leaks = heap_->leaks();
  if (leaks.count == 0) return;
  settings().leaked(
      leaks.count,
      fmt::format("{} allocation{} of {} bytes in all {} never freed before the context ended; one "
                  "of them is {}",
                  leaks.count, leaks.count == 1 ? "" : "s", leaks.bytes,
                  leaks.count == 1 ? "was" : "were", heap_->memory().describe(leaks.first)));
}

void Context::tell_unread() {
  if (settings().leaked != nullptr) tell_leaks();
  const bool fault_was_told = queue_.sessions().fault().was_told();
  std::vector<driver::Finding> left = queue_.sessions().common()->findings.take();
  if (settings().left != nullptr) return settings().left(left);
  std::erase_if(left, [&](const driver::Finding& finding) {
    return !driver::is_error(finding.kind) || (finding.is_fault && fault_was_told);
  });
  if (left.empty()) return;
  std::string text;
  for (std::size_t k = 0; k < std::min(left.size(), kMostTold); ++k) {
    text += fmt::format("\n  {}{}{}", left[k].where, left[k].where.empty() ? "" : ": ",
                        driver::describe(left[k]));
  }
  if (left.size() > kMostTold) text += fmt::format("\n  and {} more", left.size() - kMostTold);
  log(LogLevel::kError, "{} found {} error{} that the program did not ask for:{}", profile_.title(),
      left.size(), left.size() == 1 ? "" : "s", text);
}

void Context::close() {
  queue_.close();
  {
    std::lock_guard lock(Scheduler::instance().mutex);
    legacy_.reset();
    thread_streams_.clear();
    blocking_.clear();
  }
  std::lock_guard lock(modules_mutex_);
  closed_ = true;
  functions_.clear();
  modules_.clear();
}

}  // namespace baton::sim
