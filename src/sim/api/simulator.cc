#include "sim/api/simulator.h"

#include <mutex>

#include "base/error.h"
#include "sim/api/current.h"
#include "sim/api/launch_note.h"
#include "sim/device/objects.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

void require_own_process() {
  if (!is_forked()) return;
  throw error(ErrorCode::kDriver,
              "this process was forked from one that used the simulated GPU, which does not work "
              "here: open the device after the fork, in the child alone");
}

std::shared_ptr<Context> live_context(CUcontext handle) {
  require_own_process();
  SimDevice* device = SimDevice::find(handle);
  if (device == nullptr) {
    throw error(ErrorCode::kInvalidInput, "{} is not a context of the simulated GPU",
                static_cast<const void*>(handle));
  }
  std::shared_ptr<Context> context = device->context();
  if (context == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "the context of {} is not active: retain the device's primary context first",
                device->profile().title());
  }
  return context;
}

std::shared_ptr<SimStream> live_stream(CUstream handle) {
  require_own_process();
  std::shared_ptr<SimStream> stream = Objects::instance().streams.find(handle);
  if (stream == nullptr) {
    throw error(ErrorCode::kInvalidInput, "{} is not a stream of the simulated GPU",
                static_cast<const void*>(handle));
  }
  return stream;
}

std::shared_ptr<Context> live_owner(CUdeviceptr address) {
  require_own_process();
  return owner_of(address);
}

class DeviceSession final : public driver::Simulator::Session {
 public:
  DeviceSession(std::shared_ptr<Context> context, const driver::Simulator::Options& options)
      : context_(std::move(context)), notes_(context_->queue().begin_session(options)) {}
  ~DeviceSession() override {
    if (!is_forked()) context_->queue().end_session(notes_);
  }

  std::vector<driver::Finding> take_findings() override { return notes_->findings.take(); }
  driver::LaunchProgress progress() const override { return context_->queue().progress(*notes_); }
  std::vector<std::uint64_t> traced_tags() const override {
    return notes_->trace ? notes_->trace->tags() : std::vector<std::uint64_t>();
  }
  std::string trace(const std::map<std::uint64_t, driver::TracedLaunch>& names) const override {
    return notes_->trace ? notes_->trace->json(names) : "";
  }

 private:
  const std::shared_ptr<Context> context_;
  const NotesPtr notes_;
};

class SimulatedDevices : public driver::Simulator {
 public:
  void note_next_launch(driver::LaunchNote note) override { set_next_note(std::move(note)); }
  void forget_note() override { take_next_note(); }

  void note_node(CUgraphNode handle, driver::LaunchNote note) override {
    const std::shared_ptr<GraphNode> node = Objects::instance().graph_nodes.find(handle);
    auto* const kernel = node == nullptr ? nullptr : std::get_if<KernelWork>(&node->work);
    if (kernel == nullptr) {
      throw error(ErrorCode::kInvalidInput, "{} is not a kernel node of the simulated GPU",
                  static_cast<const void*>(handle));
    }
    kernel->launch.note = std::make_shared<const driver::LaunchNote>(std::move(note));
  }

  void count_launches(CUstream handle, bool on) override {
    const std::shared_ptr<SimStream> stream = live_stream(handle);
    std::lock_guard lock(Scheduler::instance().mutex);
    stream->counted.reset();
    if (on) stream->counted.emplace();
  }

  std::vector<driver::Counters> take_counted(CUstream handle) override {
    const std::shared_ptr<SimStream> stream = live_stream(handle);
    std::vector<driver::Counters> counters;
    std::lock_guard lock(Scheduler::instance().mutex);
    if (!stream->counted) return counters;
    for (std::deque<CommandPtr>& grids = *stream->counted; !grids.empty() && grids.front()->done();
         grids.pop_front()) {
      counters.push_back(*grids.front()->counted);
    }
    return counters;
  }

  std::vector<std::pair<CUgraphNode, driver::Counters>> counters_of(CUgraphExec handle) override {
    const std::shared_ptr<GraphExec> exec = Objects::instance().graph_execs.find(handle);
    if (exec == nullptr) {
      throw error(ErrorCode::kInvalidInput, "{} is not an instantiated graph of the simulated GPU",
                  static_cast<const void*>(handle));
    }
    std::lock_guard lock(Scheduler::instance().mutex);
    if (exec->last == nullptr || !exec->last->done()) {
      throw error(
          ErrorCode::kInvalidInput,
          "the graph's last launch has not completed: synchronize before asking for counters");
    }
    return exec->counters();
  }

  std::unique_ptr<Session> begin(CUcontext context, const Options& options) override {
    std::shared_ptr<Context> owner = live_context(context);
    if (options.watch == Watch::kOn || options.races != Races::kUsual) owner->expect_overlap();
    return std::make_unique<DeviceSession>(std::move(owner), options);
  }

  bool in_session(CUcontext handle) override {
    const std::shared_ptr<Context> context = live_context(handle);
    std::lock_guard lock(Scheduler::instance().mutex);
    return context->queue().sessions().of_caller() != nullptr;
  }

  std::vector<driver::Finding> take_findings(CUcontext context) override {
    return live_context(context)->queue().sessions().common()->findings.take();
  }

  std::optional<driver::Finding> fault(CUcontext context) override {
    return live_context(context)->queue().sessions().fault().get();
  }

  driver::StoppedWork stop(CUcontext context) override {
    return live_context(context)->queue().stop();
  }

  bool is_idle(CUcontext context) override { return live_context(context)->queue().is_idle(); }

  void recover(CUcontext context) override { live_context(context)->queue().recover(); }

  void protect(CUdeviceptr address, bool on) override {
    const std::shared_ptr<Context> owner = live_owner(address);
    if (owner == nullptr) return;
    owner->queue().drain();
    owner->heap()->memory().impl().protect(address, on);
  }

  void freeze(const driver::FrozenRange& range) override {
    const std::shared_ptr<Context> owner = live_owner(range.address);
    if (owner == nullptr) return;
    owner->queue().drain();
    owner->heap()->memory().impl().freeze(range);
  }

  void name_allocation(CUdeviceptr address, std::string_view name) override {
    if (const std::shared_ptr<Context> owner = live_owner(address)) {
      owner->heap()->memory().set_name(address, name);
    }
  }

  void set_registers(CUkernel handle, std::uint32_t registers) override {
    if (const auto kernel = Objects::instance().kernels.find(handle)) {
      kernel->set_registers(registers);
    }
  }

  bool untouched(CUdeviceptr address, std::size_t bytes) override {
    const std::shared_ptr<Context> owner = live_owner(address);
    return owner != nullptr && owner->heap()->memory().untouched(address, bytes);
  }
};

}  // namespace

driver::Simulator* simulator() {
  static auto& instance = *new SimulatedDevices;
  return &instance;
}

}  // namespace baton::sim
