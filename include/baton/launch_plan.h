#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "baton/module.h"

struct CUgraph_st;
struct CUgraphNode_st;

namespace baton {

using NativeGraph = CUgraph_st*;          // CUgraph
using NativeGraphNode = CUgraphNode_st*;  // CUgraphNode

// A launch prepared once and made many times: arguments packed, config checked, opt-ins raised.
// Each call patches what changed and calls the driver: no lock, no allocation, no look-up. A copy
// is a launch of its own, with the same arguments and config; keeps its kernel's module loaded;
// refers to its stream, which must outlive the launches. One thread at a time.
class BATON_API LaunchPlan {
 public:
  // Throws what `Kernel::launch` would throw.
  template <detail::PassedToKernel... Args>
  static LaunchPlan make(const Kernel& kernel, const LaunchConfig& config, const Args&... args) {
    return make_stored(kernel, config, detail::stored(args)...);
  }
  LaunchPlan(const Kernel& kernel, const LaunchConfig& config, std::span<const Argument> arguments);
  LaunchPlan(const LaunchPlan& other);
  LaunchPlan(LaunchPlan&&) noexcept;
  LaunchPlan& operator=(LaunchPlan other) noexcept;
  ~LaunchPlan();

  const Kernel& kernel() const;
  const LaunchConfig& config() const;

  // Replaces one argument. Throws kInvalidInput where there is no such parameter, or its size or
  // kind is another.
  template <detail::PassedToKernel T>
  void set(std::size_t index, const T& value) {
    const auto& stored = detail::stored(value);
    using Stored = std::remove_cvref_t<decltype(stored)>;
    set_argument(index, std::addressof(stored), detail::argument_type<Stored>());
  }
  // The argument's bytes, as many as the parameter has: may be written at any time between
  // launches. 128-byte aligned where the parameter's size is a multiple of that, 16-byte aligned
  // otherwise.
  std::span<std::byte> argument(std::size_t index);

  // Replaces the grid, the stream (of the same device), or the whole config. Throw kLimit,
  // kInvalidInput or kUnsupported as a launch would.
  void set_grid(Dim3 grid);
  void set_stream(const Stream& stream);
  void set_config(const LaunchConfig& config);

  // Throws what the driver refuses with, diagnosed.
  LaunchResult launch();
  // The same with the driver's result instead of an exception; `Kernel::diagnose` explains it.
  NativeResult try_launch(LaunchResult* result = nullptr) noexcept;
  // The same with these arguments in place of the plan's own: one address a parameter, each of as
  // many bytes as the parameter has, aligned as `argument` says. They are read during the call.
  NativeResult try_launch(void* const* arguments, LaunchResult* result = nullptr) noexcept;

  // Adds the launch as it is now to a CUDA graph, as a kernel node behind full edges from `after`,
  // with its attributes. The stream counts for nothing, and neither does pdl(): what that is in a
  // graph is a programmatic edge, which the caller adds. Throws kUnsupported for an attribute that
  // a node does not keep, and what the driver refuses with; the graph is then of no use.
  NativeGraphNode add_to(NativeGraph graph, std::span<const NativeGraphNode> after) const;
  // The same with these arguments in place of the plan's own, as for `try_launch`.
  NativeGraphNode add_to(NativeGraph graph, std::span<const NativeGraphNode> after,
                         void* const* arguments) const;

 private:
  struct State;
  explicit LaunchPlan(std::unique_ptr<State> state);

  template <typename... Stored>
  static LaunchPlan make_stored(const Kernel& kernel, const LaunchConfig& config,
                                const Stored&... values) {
    const std::array<Argument, sizeof...(Stored)> arguments = {
        Argument{std::addressof(values), sizeof(Stored), detail::argument_type<Stored>().pointer,
                 detail::argument_type<Stored>().dtype}...};
    return LaunchPlan(kernel, config, std::span<const Argument>(arguments));
  }
  void set_argument(std::size_t index, const void* data, const ArgumentType& type);

  std::unique_ptr<State> state_;
};

}  // namespace baton
