#include "baton/device.h"

#include "base/error.h"
#include "base/log.h"
#include "base/system/environment.h"
#include "base/text/suggest.h"
#include "chip/chip.h"
#include "runtime/context.h"
#include "runtime/device_state.h"
#include "runtime/findings.h"

namespace baton {
namespace {

Device open_ordinal(const DriverProvider& provider, const driver::Driver& driver, int ordinal) {
  return DeviceState::handle(DeviceState::acquire(provider, driver, ordinal));
}

// Without a context, which costs a GPU time and memory.
DeviceSummary summarize(const DriverProvider& provider, const driver::Driver& driver, int ordinal) {
  CUdevice device = 0;
  BATON_DRIVER_CALL(driver, cuDeviceGet, &device, ordinal);
  std::size_t bytes = 0;
  BATON_DRIVER_CALL(driver, cuDeviceTotalMem, &bytes, device);
  return {provider.spec(ordinal), device_name(driver, device), device_architecture(driver, device),
          bytes};
}

[[noreturn]] void refuse_spec(std::string_view spec) {
  std::vector<std::string> known;
  for (const DriverProvider& provider : driver_providers()) {
    for (std::string& name : provider.specs()) known.push_back(std::move(name));
  }
  throw error(ErrorCode::kInvalidInput, "unknown device \"{}\"{}", spec, suggestion(spec, known));
}

}  // namespace

Device Device::open() {
  if (const auto chosen = read_environment("BATON_DEVICE")) {
    try {
      return open(*chosen);
    } catch (Error& failure) {
      failure.note("BATON_DEVICE chose it");
      throw;
    }
  }
  std::string reasons;
  for (const DriverProvider& provider : driver_providers()) {
    std::string why;
    if (const driver::Driver* driver = provider.driver(&why)) {
      if (!reasons.empty()) log(LogLevel::kInfo, "taking {}: {}", provider.spec(0), reasons);
      return open_ordinal(provider, *driver, 0);
    }
    if (!reasons.empty()) reasons += "; ";
    reasons += why;
  }
  throw error(ErrorCode::kNoDevice, "there is no device: {}", reasons);
}

Device Device::open(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  const bool named = colon != std::string_view::npos;
  const std::string_view name = named ? spec.substr(colon + 1) : std::string_view();
  for (const DriverProvider& provider : driver_providers()) {
    if (provider.kind != kind) continue;
    const std::optional<int> ordinal =
        named && name.empty() ? std::nullopt : provider.ordinal(name);
    if (!ordinal) refuse_spec(spec);
    std::string why;
    const driver::Driver* driver = provider.driver(&why);
    if (driver == nullptr) {
      throw error(ErrorCode::kNoDevice, "there is no device {}: {}; \"sim\" is the simulated GPU",
                  spec, why);
    }
    return open_ordinal(provider, *driver, *ordinal);
  }
  refuse_spec(spec);
}

const std::string& Device::spec() const {
  return state_->spec();
}
const std::string& Device::name() const {
  return state_->name();
}
int Device::architecture() const {
  return state_->architecture();
}
const DeviceLimits& Device::limits() const {
  return state_->limits();
}
const driver::Driver& Device::driver() const {
  return state_->driver();
}
Device::Device(std::shared_ptr<DeviceState> state)
    : state_(std::move(state)), identity_(&state_->identity()) {}

int Device::driver_version() const {
  return state_->driver().version;
}
NativeDevice Device::native() const {
  return state_->device();
}
NativeContext Device::native_context() const {
  return state_->context();
}

std::string Device::compile_arch() const {
  // The "a" targets hold what only that architecture has (wgmma, setmaxnreg), and no other device
  // has to run what is compiled for this one.
  return fmt::format("sm_{}{}", architecture(),
                     architecture() >= chip::kFirstWithSpecificTargets ? "a" : "");
}

int Device::attribute(int id) const {
  return state_->attribute(static_cast<CUdevice_attribute>(id));
}

std::uint64_t Device::total_memory() const {
  std::size_t bytes = 0;
  BATON_DRIVER_CALL(driver(), cuDeviceTotalMem, &bytes, state_->device());
  return bytes;
}

std::uint64_t Device::free_memory() const {
  ContextGuard guard(*this);
  std::size_t free = 0, total = 0;
  BATON_DRIVER_CALL(driver(), cuMemGetInfo, &free, &total);
  return free;
}

void Device::synchronize() const {
  await_work(driver(), native_context());
  ContextGuard guard(*this);
  const CUresult result = driver().cuCtxSynchronize();
  state_->polling().all_ended();
  end_wait(*state_, result, "cuCtxSynchronize");
}

std::vector<FindingReport> Device::findings() const {
  std::vector<FindingReport> reports;
  driver::Simulator* simulator = driver().simulator;
  if (simulator == nullptr) return reports;
  for (driver::Finding& finding : simulator->take_findings(native_context())) {
    reports.push_back(to_report(std::move(finding)));
  }
  return reports;
}

void Device::recover() const {
  if (driver().simulator == nullptr) {
    throw error(
        ErrorCode::kUnsupported,
        "{} does not recover from a fault: only the end of the process ends its error state",
        spec());
  }
  driver().simulator->recover(native_context());
}

void Device::set_finding_policy(FindingPolicy policy) const {
  state_->set_finding_policy(policy);
}

std::vector<DeviceSummary> list_devices(std::string* why_no_gpu) {
  std::vector<DeviceSummary> devices;
  if (why_no_gpu != nullptr) why_no_gpu->clear();
  for (const DriverProvider& provider : driver_providers()) {
    std::string why;
    try {
      const driver::Driver* driver = provider.driver(&why);
      if (driver != nullptr) {
        int count = 0;
        BATON_DRIVER_CALL(*driver, cuDeviceGetCount, &count);
        for (int ordinal = 0; ordinal < count; ++ordinal) {
          devices.push_back(summarize(provider, *driver, ordinal));
        }
      }
    } catch (const Error& failure) {
      why = failure.message();
    }
    if (why_no_gpu != nullptr && !why.empty() && why_no_gpu->empty()) *why_no_gpu = why;
  }
  return devices;
}

}  // namespace baton
