#include <optional>

#include "capi/call.h"
#include "driver/driver.h"
#include "runtime/device_state.h"

using baton::Device;
using baton::FindingPolicy;
using baton::capi::Call;

baton_error* baton_device_open(const char* name, const baton_device_options* options,
                               baton_device** device) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_device*& result = call.result(device, "device");
    std::optional<FindingPolicy> policy;
    if (options != nullptr) {
      const baton_device_options given = call.read(options, BATON_DEVICE_OPTIONS_INIT, "options");
      call.require_zero(given.reserved, "options->reserved");
      static constexpr Call::Constant<FindingPolicy> kPolicies[] = {
          {BATON_FINDINGS_THROW, FindingPolicy::kThrow},
          {BATON_FINDINGS_LOG, FindingPolicy::kLog},
          {BATON_FINDINGS_COLLECT, FindingPolicy::kCollect},
      };
      policy = call.constant(given.findings, kPolicies, "options->findings");
    }
    const Device opened = name == nullptr ? Device::open() : Device::open(name);
    result = baton::capi::make_handle<baton_device>(opened);
    if (policy) opened.set_finding_policy(*policy);
  });
}

baton_error* baton_device_get_info(const baton_device* device, baton_device_info* info) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Device& from = call.get(device, "device");
    baton_device_info value = BATON_DEVICE_INFO_INIT;
    value.spec = from.spec().c_str();
    value.name = from.name().c_str();
    value.total_memory = from.total_memory();
    value.architecture = from.architecture();
    value.driver_version = from.driver_version();
    value.ordinal = from.identity()->ordinal();
    value.is_simulated = from.driver().simulator != nullptr ? 1 : 0;
    value.multiprocessors = from.limits().multiprocessors;
    value.max_threads = from.limits().threads_per_block;
    value.max_shared = from.limits().shared_per_block_optin;
    call.write(info, value, "info");
  });
}

baton_error* baton_device_synchronize(const baton_device* device) {
  return baton::capi::call(__func__,
                           [&](const Call& call) { call.get(device, "device").synchronize(); });
}

baton_error* baton_device_recover(const baton_device* device) {
  return baton::capi::call(__func__,
                           [&](const Call& call) { call.get(device, "device").recover(); });
}

baton_error* baton_device_findings(const baton_device* device, baton_findings** findings) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_findings*& result = call.result(findings, "findings");
    result = baton::capi::make_handle<baton_findings>(call.get(device, "device").findings());
  });
}

void baton_device_retain(baton_device* device) {
  baton::capi::retain(device);
}

void baton_device_release(baton_device* device) {
  baton::capi::release(device);
}
