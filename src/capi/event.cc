#include "capi/call.h"
#include "capi/stream_or_default.h"

using baton::Event;
using baton::capi::Call;
using baton::capi::StreamOrDefault;

baton_error* baton_event_create(const baton_device* device, std::int32_t timing,
                                baton_event** event) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_event*& result = call.result(event, "event");
    result = baton::capi::make_handle<baton_event>(
        Event(call.get(device, "device"), call.flag(timing, "timing")));
  });
}

baton_error* baton_event_record(baton_event* event, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    Event& recorded = call.get(event, "event");
    recorded.record(*StreamOrDefault(call, stream, recorded.device()));
  });
}

baton_error* baton_event_wait(const baton_event* event, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Event& awaited = call.get(event, "event");
    (*StreamOrDefault(call, stream, awaited.device())).wait(awaited);
  });
}

baton_error* baton_event_synchronize(const baton_event* event) {
  return baton::capi::call(__func__,
                           [&](const Call& call) { call.get(event, "event").synchronize(); });
}

baton_error* baton_event_elapsed(const baton_event* start, const baton_event* end,
                                 double* seconds) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(seconds, "seconds") =
        baton::elapsed_seconds(call.get(start, "start"), call.get(end, "end"));
  });
}

baton_error* baton_event_native(const baton_event* event, void** cu_event) {
  return baton::capi::call(__func__, [&](const Call& call) {
    void*& result = call.result(cu_event, "cu_event");
    result = call.get(event, "event").native();
  });
}

void baton_event_retain(baton_event* event) {
  baton::capi::retain(event);
}

void baton_event_release(baton_event* event) {
  baton::capi::release(event);
}
