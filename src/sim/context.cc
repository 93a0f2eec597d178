#include "sim/context.h"

#include "sim/objects.h"
#include "sim/refusal.h"

namespace baton::sim {
namespace {

EngineConfig engine_config(const Profile& profile) {
  EngineConfig config;
  config.architecture = profile.architecture();
  config.sm_count = profile.at(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  config.shared_per_block =
      static_cast<std::uint32_t>(profile.at(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  config.clock_khz = static_cast<std::uint32_t>(profile.at(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  return config;
}

bool is_pending(const CommandPtr& command) {
  return command != nullptr && !command->done;
}

}  // namespace

Context::Context(int ordinal, const Profile& profile)
    : ordinal_(ordinal),
      profile_(profile),
      heap_(std::make_shared<DeviceHeap>(ordinal, profile.memory_bytes())),
      engine_(engine_config(profile), heap_->memory()),
      queue_(engine_, findings_) {}

std::shared_ptr<Stream> Context::make_stream(Stream::Kind kind, int priority) {
  auto stream = std::make_shared<Stream>(shared_from_this(), kind, priority);
  if (kind == Stream::Kind::kBlocking) {
    std::lock_guard lock(Scheduler::instance().mutex);
    blocking_.push_back(stream);
  }
  return stream;
}

std::shared_ptr<Stream> Context::legacy_stream() {
  std::lock_guard lock(Scheduler::instance().mutex);
  if (legacy_ == nullptr) {
    legacy_ = std::make_shared<Stream>(shared_from_this(), Stream::Kind::kLegacy, 0);
  }
  return legacy_;
}

std::shared_ptr<Stream> Context::thread_stream() {
  std::lock_guard lock(Scheduler::instance().mutex);
  std::shared_ptr<Stream>& stream = thread_streams_[std::this_thread::get_id()];
  if (stream == nullptr) {
    stream = std::make_shared<Stream>(shared_from_this(), Stream::Kind::kBlocking, 0);
    blocking_.push_back(stream);
  }
  return stream;
}

// What a new command of the stream comes after by the order of streams alone (CUDA programming
// guide, "Implicit Synchronization" and "Default Stream").
std::vector<CommandPtr> Context::predecessors(const Lock&, const Stream& stream) {
  std::vector<CommandPtr> before;
  if (is_pending(stream.tail)) before.push_back(stream.tail);
  if (stream.kind == Stream::Kind::kBlocking && legacy_ != nullptr && is_pending(legacy_->tail)) {
    before.push_back(legacy_->tail);
  }
  if (stream.kind == Stream::Kind::kLegacy) {
    std::erase_if(blocking_, [&](const std::shared_ptr<Stream>& other) {
      if (is_pending(other->tail)) before.push_back(other->tail);
      return other->destroyed && !is_pending(other->tail);
    });
  }
  return before;
}

CommandPtr Context::submit(const Lock& lock, Stream& stream, Work work,
                           std::span<const CommandPtr> after) {
  require(queue_.error(lock) == CUDA_SUCCESS, queue_.error(lock));
  std::vector<CommandPtr> before = predecessors(lock, stream);
  before.insert(before.end(), after.begin(), after.end());
  stream.tail = queue_.submit(lock, std::move(work), stream.priority, before);
  return stream.tail;
}

CommandPtr Context::submit(Stream& stream, Work work, std::span<const CommandPtr> after) {
  Lock lock(Scheduler::instance().mutex);
  return submit(lock, stream, std::move(work), after);
}

void Context::record(Event& event, Stream& stream) {
  auto occurrence = std::make_shared<Occurrence>();
  Lock lock(Scheduler::instance().mutex);
  event.recorded = submit(lock, stream, Record{occurrence}, {});
  event.occurrence = std::move(occurrence);
}

void Context::wait_event(Stream& stream, const Event& event) {
  Lock lock(Scheduler::instance().mutex);
  const CommandPtr awaited = event.recorded;
  if (is_pending(awaited)) submit(lock, stream, Join{}, {&awaited, 1});
}

bool Context::is_idle(Stream& stream) {
  Lock lock(Scheduler::instance().mutex);
  if (stream.kind == Stream::Kind::kLegacy) return predecessors(lock, stream).empty();
  return !is_pending(stream.tail);
}

void Context::synchronize(Stream& stream) {
  Lock lock(Scheduler::instance().mutex);
  if (stream.kind == Stream::Kind::kLegacy) {
    for (const CommandPtr& command : predecessors(lock, stream)) DeviceQueue::wait(lock, command);
  } else {
    const CommandPtr last = stream.tail;
    DeviceQueue::wait(lock, last);
  }
}

std::shared_ptr<LoadedModule> Context::place(const Library& library) {
  std::lock_guard lock(modules_mutex_);
  require(!closed_, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const auto known = modules_.find(&library);
  if (known != modules_.end()) return known->second;
  auto module = LoadedModule::load(library.ptx(), heap_->memory(), profile_.architecture());
  modules_.emplace(&library, module);
  return module;
}

std::shared_ptr<Function> Context::function(const std::shared_ptr<Kernel>& kernel) {
  std::shared_ptr<LoadedModule> module = place(kernel->library());
  std::lock_guard lock(modules_mutex_);
  require(!closed_, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  const auto known = functions_.find(kernel.get());
  if (known != functions_.end()) return known->second;
  const LoadedKernel* loaded = module->kernel(kernel->name());
  require(loaded != nullptr, CUDA_ERROR_NOT_FOUND);
  auto function = std::make_shared<Function>(kernel, shared_from_this(), std::move(module), loaded);
  kernel->attach(ordinal_, function);
  function->set_handle(Objects::instance().functions.add(function));
  functions_.emplace(kernel.get(), function);
  return function;
}

void Context::unload(const Library& library) {
  queue_.drain();
  std::lock_guard lock(modules_mutex_);
  std::erase_if(functions_,
                [&](const auto& entry) { return &entry.second->kernel()->library() == &library; });
  modules_.erase(&library);
}

std::vector<driver::Finding> Context::findings() const {
  std::vector<driver::Finding> all = engine_.findings();
  for (driver::Finding& finding : findings_.list()) all.push_back(std::move(finding));
  return all;
}

std::vector<driver::Finding> Context::take_findings() {
  std::vector<driver::Finding> all = engine_.take_findings();
  for (driver::Finding& finding : findings_.take()) all.push_back(std::move(finding));
  return all;
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
