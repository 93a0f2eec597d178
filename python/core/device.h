#pragma once

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

// Tells what the simulated GPU found, after a wait. Inside of `baton.on` errors become a
// FindingError. Otherwise they become a FindingWarning, and stay for `Device.findings`. `failure`
// is the error of the wait itself, if it failed.
void report_findings(const Device& device, const Error* failure = nullptr);

// Ends the error state of a simulated GPU. Other threads run meanwhile: what they have enqueued
// since the failure is awaited, and they may have to stop it.
void recover(const Device& device);

// Ends the error state of the simulated GPU, if this failure left one, so that later calls are not
// failed by it.
void recover_from(const Device& device, const Error& failure);

void add_device_type(PyObject* module);

}  // namespace baton::python
