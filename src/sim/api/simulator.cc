#include "sim/api/simulator.h"

#include "base/error.h"
#include "sim/api/current.h"
#include "sim/device/objects.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

std::shared_ptr<Context> live_context(CUcontext handle) {
  Device* device = Device::find(handle);
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

std::shared_ptr<Stream> live_stream(CUstream handle) {
  std::shared_ptr<Stream> stream = Objects::instance().streams.find(handle);
  if (stream == nullptr) {
    throw error(ErrorCode::kInvalidInput, "{} is not a stream of the simulated GPU",
                static_cast<const void*>(handle));
  }
  return stream;
}

class SimulatedDevices : public driver::Simulator {
 public:
  void count_launches(CUstream handle, bool on) override {
    const std::shared_ptr<Stream> stream = live_stream(handle);
    std::lock_guard lock(Scheduler::instance().mutex);
    stream->counted.reset();
    if (on) stream->counted.emplace();
  }

  std::vector<driver::Counters> take_counted(CUstream handle) override {
    const std::shared_ptr<Stream> stream = live_stream(handle);
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
    std::vector<std::pair<CUgraphNode, driver::Counters>> counters;
    for (const GraphExec::Step& step : exec->steps) {
      if (step.counted != nullptr) counters.emplace_back(step.node, *step.counted);
    }
    return counters;
  }

  std::vector<driver::Finding> findings(CUcontext context) override {
    return live_context(context)->findings();
  }

  std::vector<driver::Finding> take_findings(CUcontext context) override {
    return live_context(context)->take_findings();
  }

  std::vector<std::string> stop(CUcontext context) override {
    return live_context(context)->queue().stop();
  }

  void set_schedule(CUcontext context, Schedule schedule) override {
    live_context(context)->queue().set_schedule(schedule);
  }

  void watch(CUcontext context, Watch mode) override { live_context(context)->watch(mode); }

  void expect_no_help(CUcontext context, bool alone) override {
    live_context(context)->queue().expect_no_help(alone);
  }

  void protect(CUdeviceptr address) override {
    const std::shared_ptr<Context> owner = owner_of(address);
    if (owner == nullptr) return;
    owner->queue().drain();
    owner->heap()->memory().impl().protect(address);
  }

  void start_trace(CUcontext context) override {
    live_context(context)->queue().set_trace(std::make_shared<Trace>());
  }
  std::string take_trace(CUcontext context) override {
    return live_context(context)->queue().take_trace();
  }

  void name_allocation(CUdeviceptr address, std::string_view name) override {
    if (const std::shared_ptr<Context> owner = owner_of(address)) {
      owner->heap()->memory().set_name(address, name);
    }
  }

  void set_registers(CUkernel handle, std::uint32_t registers) override {
    if (const auto kernel = Objects::instance().kernels.find(handle)) {
      kernel->set_registers(registers);
    }
  }

  bool untouched(CUdeviceptr address, std::size_t bytes) override {
    const std::shared_ptr<Context> owner = owner_of(address);
    return owner != nullptr && owner->heap()->memory().untouched(address, bytes);
  }
};

}  // namespace

driver::Simulator* simulator() {
  static auto& instance = *new SimulatedDevices;
  return &instance;
}

}  // namespace baton::sim
