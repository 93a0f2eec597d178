#include "capi/call.h"

using baton::PinnedMemory;
using baton::capi::Call;

baton_error* baton_pinned_alloc(const baton_device* device, std::size_t bytes,
                                baton_pinned** pinned) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_pinned*& result = call.result(pinned, "pinned");
    result =
        baton::capi::make_handle<baton_pinned>(PinnedMemory(call.get(device, "device"), bytes));
  });
}

baton_error* baton_pinned_data(const baton_pinned* pinned, void** data) {
  return baton::capi::call(__func__, [&](const Call& call) {
    void*& result = call.result(data, "data");
    result = call.get(pinned, "pinned").data();
  });
}

baton_error* baton_pinned_bytes(const baton_pinned* pinned, std::size_t* bytes) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(bytes, "bytes") = call.get(pinned, "pinned").bytes();
  });
}

void baton_pinned_retain(baton_pinned* pinned) {
  baton::capi::retain(pinned);
}

void baton_pinned_release(baton_pinned* pinned) {
  baton::capi::release(pinned);
}
