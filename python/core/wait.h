#pragma once

#include <functional>
#include <optional>

#include "base/error.h"
#include "baton/device.h"
#include "baton/stream.h"

namespace baton::python {

// Waits until `done` returns true, without the interpreter's lock, and looks for signals: Ctrl-C
// also ends the work of the simulated GPU. Returns false when `timeout` seconds have passed. Throws
// what `done` throws.
bool wait_until(const std::function<bool()>& done, const Device& device,
                std::optional<double> timeout);

// Waits for the stream's work, without the interpreter's lock, and lets signals through: Ctrl-C
// raises KeyboardInterrupt. Throws kTimeout after `timeout` seconds, what the work failed with, and
// what `report_findings` throws.
void wait_for(const Stream& stream, std::optional<double> timeout = std::nullopt);

// Waits for all work on the device, like `wait_for`.
void wait_for_all(const Device& device);
// The same, and returns the error of that work, if it failed.
std::optional<Error> synchronize(const Device& device);

// From now on the library's own waits are of this kind in threads of Python. A destructor cannot
// raise: there, what a signal's handler raised comes out of the code that follows.
void install_waits();

}  // namespace baton::python
