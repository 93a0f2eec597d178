#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "baton/device.h"
#include "baton/finding.h"
#include "baton/stream.h"
#include "core/object.h"

namespace baton::python {

using DeviceValue = Device;

// The device of an object: a baton.Device, a str such as "sim:h200", or None for the thread's
// device (`baton.on`), otherwise the one that the command line would choose.
Device device_argument(PyObject* object);

bool is_simulated(const Device& device);
// Its number among the devices of its driver: DLPack's device id.
int ordinal_of(const Device& device);

// Waits until `done` returns true, without the interpreter's lock, and looks for signals: Ctrl-C
// also ends the work of the simulated GPU. Returns false when `timeout` seconds have passed. Throws
// what `done` throws.
bool wait_until(const std::function<bool()>& done, const Device& device,
                std::optional<double> timeout);

// Waits for the stream's work, without the interpreter's lock, and lets signals through: Ctrl-C
// raises KeyboardInterrupt. Throws kTimeout after `timeout` seconds, what the work failed with, and
// what `report_findings` throws.
void wait_for(const Stream& stream, std::optional<double> timeout = std::nullopt);

// Tells what the simulated GPU found, after a wait. Inside of `baton.on` errors become a
// FindingError. Otherwise they become a FindingWarning, and stay for `Device.findings`. `failure`
// is the error of the wait itself, if it failed.
void report_findings(const Device& device, const Error* failure = nullptr);

// Ends the error state of the simulated GPU, if this failure left one, so that later calls are not
// failed by it.
void recover_from(const Device& device, const Error& failure);

// Waits for all work on the device, like `wait_for`.
void wait_for_all(const Device& device);

void add_device_type(PyObject* module);

}  // namespace baton::python
