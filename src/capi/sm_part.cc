#include "baton/sm_part.h"

#include "capi/call.h"

using baton::SmPart;
using baton::Stream;
using baton::capi::Call;

baton_error* baton_device_sm_units(const baton_device* device, std::uint32_t* unit,
                                   std::uint32_t* count) {
  return baton::capi::call(__func__, [&](const Call& call) {
    std::uint32_t& unit_result = call.result(unit, "unit");
    std::uint32_t& count_result = call.result(count, "count");
    const baton::SmUnits units = baton::sm_units(call.get(device, "device"));
    unit_result = units.unit;
    count_result = units.count;
  });
}

baton_error* baton_device_split_sms(const baton_device* device, const std::uint32_t* sms,
                                    std::size_t count, baton_sm_part** parts) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const std::span<const std::uint32_t> asked = call.array(sms, count, "sms");
    call.require_bytes(parts, count, "parts");
    std::fill_n(parts, count, nullptr);
    std::vector<SmPart> split =
        baton::split_sms(call.get(device, "device"), {asked.data(), asked.size()});
    try {
      for (std::size_t i = 0; i < count; ++i) {
        parts[i] = baton::capi::make_handle<baton_sm_part>(std::move(split[i]));
      }
    } catch (...) {
      for (std::size_t i = 0; i < count; ++i) {
        baton::capi::release(std::exchange(parts[i], nullptr));
      }
      throw;
    }
  });
}

baton_error* baton_sm_part_sms(const baton_sm_part* part, std::uint32_t* sms) {
  return baton::capi::call(
      __func__, [&](const Call& call) { call.result(sms, "sms") = call.get(part, "part").sms(); });
}

baton_error* baton_sm_part_stream(const baton_sm_part* part, std::int32_t priority,
                                  baton_stream** stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_stream*& result = call.result(stream, "stream");
    result = baton::capi::make_handle<baton_stream>(
        Stream(call.get(part, "part"), static_cast<int>(priority)));
  });
}

void baton_sm_part_retain(baton_sm_part* part) {
  baton::capi::retain(part);
}

void baton_sm_part_release(baton_sm_part* part) {
  baton::capi::release(part);
}

baton_error* baton_stream_part_sms(const baton_stream* stream, std::uint32_t* sms) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(sms, "sms") = call.get(stream, "stream").part_sms();
  });
}
