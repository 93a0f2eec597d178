#include "baton/stream.h"

#include "capi/call.h"

using baton::Stream;
using baton::capi::Call;

baton_error* baton_stream_create(const baton_device* device, std::int32_t priority,
                                 baton_stream** stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_stream*& result = call.result(stream, "stream");
    result = baton::capi::make_handle<baton_stream>(
        Stream(call.get(device, "device"), static_cast<int>(priority)));
  });
}

baton_error* baton_stream_adopt(const baton_device* device, void* cu_stream,
                                baton_stream** stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_stream*& result = call.result(stream, "stream");
    result = baton::capi::make_handle<baton_stream>(
        Stream::adopt(call.get(device, "device"), static_cast<baton::NativeStream>(cu_stream)));
  });
}

baton_error* baton_stream_native(const baton_stream* stream, void** cu_stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    void*& result = call.result(cu_stream, "cu_stream");
    result = call.get(stream, "stream").native();
  });
}

baton_error* baton_stream_synchronize(const baton_stream* stream) {
  return baton::capi::call(__func__,
                           [&](const Call& call) { call.get(stream, "stream").synchronize(); });
}

baton_error* baton_stream_done(const baton_stream* stream, std::int32_t* done) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(done, "done") = call.get(stream, "stream").done() ? 1 : 0;
  });
}

baton_error* baton_stream_capturing(const baton_stream* stream, std::int32_t* capturing) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(capturing, "capturing") = call.get(stream, "stream").is_capturing() ? 1 : 0;
  });
}

void baton_stream_retain(baton_stream* stream) {
  baton::capi::retain(stream);
}

void baton_stream_release(baton_stream* stream) {
  baton::capi::release(stream);
}
