#include "baton/launch_plan.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "launch/diagnosis.h"
#include "launch/graph_node.h"
#include "launch/limits.h"
#include "launch/opt_in.h"
#include "launch/signature.h"
#include "launch/submit.h"
#include "launch/traced_arguments.h"
#include "runtime/context.h"

namespace baton {
namespace {

// Tensor maps want 64 bytes (128 from CUDA 13 on); everything else is content with 16.
constexpr std::size_t kLargeAlignment = 128;
constexpr std::size_t kAlignment = 16;

std::size_t align(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Most arguments have four or eight bytes, which are two instructions. A call of memcpy for a size
// that is known only here takes ten times as many.
void copy_argument(void* to, const void* from, std::size_t size) {
  if (size == 8) {
    std::memcpy(to, from, 8);
  } else if (size == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, size);
  }
}

Error unknown_argument(const Kernel& kernel, std::size_t count, std::size_t index) {
  return error(ErrorCode::kInvalidInput,
               "kernel {} takes {} arguments, counted from 0: there is no argument {}",
               kernel.name(), count, index);
}

// A node on a part of the SMs names the kernel and the part: a function has its own context.
CUDA_KERNEL_NODE_PARAMS node_params(const KernelState& kernel, const ResolvedKernel& resolved,
                                    const LaunchConfig& asked, const CUlaunchConfig& config,
                                    void* const* arguments) {
  CUDA_KERNEL_NODE_PARAMS params{};
  if (asked.stream.part == nullptr) {
    params.func = resolved.function();
  } else {
    if (kernel.handle() == nullptr) {
      throw error(ErrorCode::kUnsupported,
                  "kernel {} is a foreign function, which cannot be a node of a graph on a part of "
                  "the SMs; adopt its CUkernel instead",
                  kernel.facts().name);
    }
    launch::allow_on_parts(kernel, resolved, asked);
    params.kern = kernel.handle();
    params.ctx = asked.stream.part;
  }
  params.gridDimX = config.gridDimX;
  params.gridDimY = config.gridDimY;
  params.gridDimZ = config.gridDimZ;
  params.blockDimX = config.blockDimX;
  params.blockDimY = config.blockDimY;
  params.blockDimZ = config.blockDimZ;
  params.sharedMemBytes = config.sharedMemBytes;
  params.kernelParams = const_cast<void**>(arguments);  // which the driver only reads
  return params;
}

}  // namespace

struct LaunchPlan::State {
  struct alignas(kLargeAlignment) Line {
    std::byte bytes[kLargeAlignment];
  };

  State(const Kernel& of, const LaunchConfig& with) : kernel(of), config(with) {}

  CUresult submit(void* const* arguments) const noexcept {
    return launch::submit(*resolved, native, cluster, arguments, records);
  }
  // Not inline: launches that want no result would save registers for it.
  [[gnu::noinline]] CUresult submit(void* const* arguments, LaunchResult& result) const noexcept {
    const CUresult status = submit(arguments);
    // The driver wrote the handle into the plan's own attribute.
    if (status == CUDA_SUCCESS) result = launch::result_of(config.attributes);
    return status;
  }

  CUDA_KERNEL_NODE_PARAMS node_params(void* const* arguments) const {
    return baton::node_params(*kernel_state, *resolved, config, native, arguments);
  }

  Kernel kernel;
  const KernelState* kernel_state = nullptr;
  const ResolvedKernel* resolved = nullptr;
  LaunchConfig config;
  CUlaunchConfig native{};  // its attributes are the config's
  std::uint64_t cluster = 1;
  DeviceAddress records = 0;  // where an instrumented kernel writes its records
  std::vector<Line> bytes;
  std::vector<void*> pointers;  // into `bytes`, one a parameter
};

LaunchPlan::State& LaunchPlan::state() const {
  if (state_ == nullptr) [[unlikely]] {
    throw Error(ErrorCode::kInvalidInput,
                "this LaunchPlan was moved from: use the plan that it was moved to, or assign "
                "another one to it");
  }
  return *state_;
}

LaunchPlan::LaunchPlan(const LaunchPlan& other) : state_(std::make_unique<State>(other.state())) {
  // What refers to the other's members refers to these.
  State& state = *state_;
  state.native.attrs = launch::native_attributes(state.config.attributes.all());
  const auto* const from = reinterpret_cast<const std::byte*>(other.state_->bytes.data());
  auto* const to = reinterpret_cast<std::byte*>(state.bytes.data());
  for (void*& pointer : state.pointers) pointer = to + (static_cast<std::byte*>(pointer) - from);
}

LaunchPlan::LaunchPlan(LaunchPlan&&) noexcept = default;
LaunchPlan::~LaunchPlan() = default;

LaunchPlan& LaunchPlan::operator=(LaunchPlan other) noexcept {
  state_ = std::move(other.state_);
  return *this;
}

LaunchPlan::LaunchPlan(const Kernel& kernel, const LaunchConfig& config,
                       Span<const Argument> arguments)
    : state_(std::make_unique<State>(kernel, config)) {
  state_->kernel_state = kernel.state_.get();
  set_config(config);

  std::vector<ArgumentType> types;
  for (const Argument& argument : arguments) types.push_back(argument.type());
  if (!launch::accepts(*state_->resolved, types)) {
    throw launch::unfit_arguments(*state_->kernel_state, *state_->resolved, types);
  }
  std::vector<std::size_t> offsets;
  std::size_t end = 0;
  for (const Argument& argument : arguments) {
    const bool large = argument.size != 0 && argument.size % kLargeAlignment == 0;
    offsets.push_back(align(end, large ? kLargeAlignment : kAlignment));
    end = offsets.back() + argument.size;
  }
  state_->bytes.resize(end / kLargeAlignment + 1);
  auto* const base = reinterpret_cast<std::byte*>(state_->bytes.data());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    state_->pointers.push_back(base + offsets[i]);
    if (arguments[i].size != 0) {
      std::memcpy(base + offsets[i], arguments[i].data, arguments[i].size);
    }
  }
}

const Kernel& LaunchPlan::kernel() const {
  return state().kernel;
}
const LaunchConfig& LaunchPlan::config() const {
  return state().config;
}

void LaunchPlan::set_config(const LaunchConfig& config) {
  State& state = this->state();
  const KernelState& kernel = *state.kernel_state;
  const ResolvedKernel& resolved = kernel.on(launch::device_of(config, kernel.home()));
  launch::require_fit(kernel, resolved, config);
  state.kernel.prepare(config);
  state.resolved = &resolved;
  state.config = config;
  state.native = launch::native_config(resolved, state.config, state.config.attributes.all());
  state.cluster = launch::cluster_blocks(resolved, config.attributes);
}

void LaunchPlan::set_grid(Dim3 grid) {
  State& state = this->state();
  const Dim3 before = std::exchange(state.config.grid, grid);
  try {
    launch::require_fit(*state.kernel_state, *state.resolved, state.config);
  } catch (...) {
    state.config.grid = before;
    throw;
  }
  launch::set_grid(state.native, grid, *state.resolved);
}

void LaunchPlan::set_records(DeviceAddress records) {
  state().records = records;
}

void LaunchPlan::set_stream(const Stream& stream) {
  State& state = this->state();
  if (!(stream.device() == state.resolved->device())) {
    throw error(ErrorCode::kInvalidInput,
                "kernel {}: the plan is for {}, the stream belongs to {}; make a plan for each "
                "device",
                state.kernel.name(), state.resolved->device().spec(), stream.device().spec());
  }
  state.config.stream = stream;
  state.native.hStream = stream.native();
}

void LaunchPlan::set_argument(std::size_t index, const void* data, const ArgumentType& type) {
  State& state = this->state();
  const auto& params = state.resolved->params();
  if (index >= params.size()) [[unlikely]]
    throw unknown_argument(state.kernel, params.size(), index);
  if (!launch::accepts_one(params[index], type)) [[unlikely]] {
    throw launch::unfit_argument(*state.kernel_state, *state.resolved, index, type);
  }
  copy_argument(state.pointers[index], data, type.size);
}

Span<std::byte> LaunchPlan::argument(std::size_t index) {
  State& state = this->state();
  const auto& params = state.resolved->params();
  if (index >= params.size()) throw unknown_argument(state.kernel, params.size(), index);
  return {static_cast<std::byte*>(state.pointers[index]), params[index].size};
}

NativeResult LaunchPlan::try_launch(LaunchResult* result) noexcept {
  return try_launch(state_ != nullptr ? state_->pointers.data() : nullptr, result);
}

NativeResult LaunchPlan::try_launch(void* const* arguments, LaunchResult* result) noexcept {
  if (state_ == nullptr) [[unlikely]]
    return CUDA_ERROR_INVALID_HANDLE;
  return result == nullptr ? state_->submit(arguments) : state_->submit(arguments, *result);
}

LaunchResult LaunchPlan::launch() {
  const State& state = this->state();
  LaunchResult result;
  const NativeResult status = try_launch(&result);
  if (status != CUDA_SUCCESS) throw state.kernel.diagnose(state.config, status);
  return result;
}

NativeGraphNode LaunchPlan::add_to(NativeGraph graph, Span<const NativeGraphNode> after) const {
  return add_to(graph, after, state().pointers.data());
}

NativeGraphNode LaunchPlan::add_to(NativeGraph graph, Span<const NativeGraphNode> after,
                                   void* const* arguments) const {
  const State& state = this->state();
  const Device& device = state.resolved->device();
  const driver::Driver& driver = device.driver();
  const ContextGuard guard(device);
  const launch::TracedArguments all(*state.resolved, arguments, state.records);
  const CUDA_KERNEL_NODE_PARAMS params = state.node_params(all.data());
  CUgraphNode node = nullptr;
  const CUresult result =
      driver.cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params);
  if (result != CUDA_SUCCESS) throw state.kernel.diagnose(state.config, result);
  for (const LaunchAttribute& attribute : state.config.attributes.all()) {
    launch::set_node_attribute(driver, node, attribute, state.kernel.name());
  }
  return node;
}

void LaunchPlan::update_node(NativeGraphExec graph, NativeGraphNode node) const {
  update_node(graph, node, state().pointers.data());
}

void LaunchPlan::update_node(NativeGraphExec graph, NativeGraphNode node,
                             void* const* arguments) const {
  const State& state = this->state();
  const Device& device = state.resolved->device();
  const ContextGuard guard(device);
  const launch::TracedArguments all(*state.resolved, arguments, state.records);
  const CUDA_KERNEL_NODE_PARAMS params = state.node_params(all.data());
  const CUresult result = device.driver().cuGraphExecKernelNodeSetParams(graph, node, &params);
  if (result != CUDA_SUCCESS) throw state.kernel.diagnose(state.config, result);
}

}  // namespace baton
