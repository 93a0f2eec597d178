#pragma once

#include <atomic>

#include "core/kernel.h"

namespace baton::python {

// The callable that sees each launch before it is made, or null: what `baton.capture` sets while it
// records. A launch without one costs one load and a branch.
inline std::atomic<PyObject*> launch_observer{nullptr};

inline bool is_observed() {
  return launch_observer.load(std::memory_order_relaxed) != nullptr;
}

// Calls the observer with the kernel, the settings by name and the tuple of arguments. Throws what
// it raises.
void observe_launch(const KernelValue& kernel, const LaunchConfig& config, PyObject* const* values,
                    std::size_t count);

// Adds the function `observe_launches`.
void add_observer(PyObject* module);

}  // namespace baton::python
