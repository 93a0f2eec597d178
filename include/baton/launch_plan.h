#pragma once

#include <cstddef>
#include <memory>

#include "baton/forward.h"
#include "baton/module.h"
#include "baton/span.h"

struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace baton {

using NativeGraph = CUgraph_st*;          // CUgraph
using NativeGraphNode = CUgraphNode_st*;  // CUgraphNode
using NativeGraphExec = CUgraphExec_st*;  // CUgraphExec

// A launch that is prepared once and made many times: packed arguments, a checked config, raised
// opt-ins. Each launch patches what changed and calls the driver, without a lock, an allocation or
// a look-up. A copy is an independent launch with the same arguments and config. A plan keeps its
// kernel's module loaded, and the handle of its stream, which must be valid at each launch. One
// thread at a time. After a move the old object can be assigned to and destroyed; every other call
// throws kInvalidInput, and `try_launch` returns CUDA_ERROR_INVALID_HANDLE.
class BATON_API LaunchPlan {
 public:
  // Prepares a launch. Throws the errors of `Kernel::launch`.
  template <typename... Args, std::enable_if_t<(detail::kPassesToKernel<Args> && ...), int> = 0>
  static LaunchPlan make(const Kernel& kernel, const LaunchConfig& config, const Args&... args) {
    return make_stored(kernel, config, detail::stored(args)...);
  }
  // A raw pointer may be a host's: pass device_pointer(p), or DevicePointer<float>{address}.
  template <typename... Args, std::enable_if_t<(std::is_pointer_v<Args> || ...), int> = 0>
  static LaunchPlan make(const Kernel& kernel, const LaunchConfig& config,
                         const Args&... pass_device_pointer_of_p) = delete;
  LaunchPlan(const Kernel& kernel, const LaunchConfig& config, Span<const Argument> arguments);
  LaunchPlan(const LaunchPlan& other);
  LaunchPlan(LaunchPlan&&) noexcept;
  LaunchPlan& operator=(LaunchPlan other) noexcept;
  ~LaunchPlan();

  const Kernel& kernel() const;
  const LaunchConfig& config() const;

  // Replaces one argument. Throws kInvalidInput for an unknown parameter, or for another size or
  // kind.
  template <typename T, std::enable_if_t<detail::kPassesToKernel<T>, int> = 0>
  void set(std::size_t index, const T& value) {
    const auto& stored = detail::stored(value);
    using Stored = std::remove_cv_t<std::remove_reference_t<decltype(stored)>>;
    set_argument(index, std::addressof(stored), detail::argument_type<Stored>());
  }
  template <typename T, std::enable_if_t<std::is_pointer_v<T>, int> = 0>
  void set(std::size_t index, const T& pass_device_pointer_of_p) = delete;
  // The same with the argument as bytes.
  void set_argument(std::size_t index, const Argument& argument) {
    set_argument(index, argument.data, argument.type());
  }
  // The argument's bytes, as many as the parameter has. The caller may write them at any time
  // between launches. They are 128-byte aligned if the parameter's size is a multiple of 128,
  // otherwise 16-byte aligned.
  Span<std::byte> argument(std::size_t index);

  // Replace the grid, the stream (by one of the same device), or the whole config. They throw
  // kLimit, kInvalidInput or kUnsupported as a launch does.
  void set_grid(Dim3 grid);
  void set_stream(const Stream& stream);
  void set_config(const LaunchConfig& config);
  // Where an instrumented kernel (KernelFacts::traced) writes what its blocks did; 0, the default,
  // for nowhere. The memory must suffice for the grid of each launch: Baton does this for traced
  // runs.
  void set_records(DeviceAddress records);

  // Launches. If the driver rejects the launch, throws the diagnosed error.
  LaunchResult launch();
  // Launches and returns the driver's result instead of throwing; `Kernel::diagnose` explains it.
  NativeResult try_launch(LaunchResult* result = nullptr) noexcept;
  // Launches with these arguments instead of the plan's own: one address for each parameter. Each
  // must point to as many bytes as the parameter has, aligned as for `argument`. The call reads
  // them before it returns.
  NativeResult try_launch(void* const* arguments, LaunchResult* result = nullptr) noexcept;

  // Adds the launch with its current arguments to a CUDA graph: a kernel node with its attributes
  // and full edges from `after`. The plan's stream and pdl() have no effect. In a graph, PDL is a
  // programmatic edge, which the caller adds. Throws kUnsupported for an attribute that nodes do
  // not keep, and the driver's errors; the graph is unusable after an error.
  NativeGraphNode add_to(NativeGraph graph, Span<const NativeGraphNode> after) const;
  // The same with these arguments instead of the plan's own, as for `try_launch`.
  NativeGraphNode add_to(NativeGraph graph, Span<const NativeGraphNode> after,
                         void* const* arguments) const;
  // Gives a node of an instantiated graph, which `add_to` made for a plan of the same kernel, the
  // plan's grid, block and shared memory, and these arguments. Its attributes stay. Launches of the
  // graph that are under way keep the old values. Throws the driver's errors; the node stays then.
  void update_node(NativeGraphExec graph, NativeGraphNode node) const;
  void update_node(NativeGraphExec graph, NativeGraphNode node, void* const* arguments) const;

 private:
  struct State;
  // Throws kInvalidInput where the plan was moved from.
  State& state() const;

  template <typename... Stored>
  static LaunchPlan make_stored(const Kernel& kernel, const LaunchConfig& config,
                                const Stored&... values) {
    const std::array<Argument, sizeof...(Stored)> arguments = {
        Argument{std::addressof(values), sizeof(Stored), detail::argument_type<Stored>().pointer,
                 detail::argument_type<Stored>().dtype}...};
    return LaunchPlan(kernel, config, Span<const Argument>(arguments));
  }
  void set_argument(std::size_t index, const void* data, const ArgumentType& type);

  std::unique_ptr<State> state_;
};

}  // namespace baton
