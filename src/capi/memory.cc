#include "capi/allocator.h"
#include "capi/call.h"
#include "capi/stream_or_default.h"

using baton::Memory;
using baton::capi::Call;
using baton::capi::StreamOrDefault;

baton_error* baton_memory_alloc(const baton_device* device, std::size_t bytes,
                                baton_memory** memory) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_memory*& result = call.result(memory, "memory");
    result = baton::capi::make_handle<baton_memory>(Memory(call.get(device, "device"), bytes));
  });
}

baton_error* baton_memory_alloc_with(const baton_device* device, std::size_t bytes,
                                     const baton_allocator* allocator, baton_memory** memory) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_memory*& result = call.result(memory, "memory");
    const baton::Device& on = call.get(device, "device");
    result = baton::capi::make_handle<baton_memory>(
        Memory(on, bytes, baton::capi::given_allocator(call, allocator)));
  });
}

baton_error* baton_memory_address(const baton_memory* memory, void** address) {
  return baton::capi::call(__func__, [&](const Call& call) {
    void*& result = call.result(address, "address");
    result = reinterpret_cast<void*>(call.get(memory, "memory").address());
  });
}

baton_error* baton_memory_bytes(const baton_memory* memory, std::size_t* bytes) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.result(bytes, "bytes") = call.get(memory, "memory").bytes();
  });
}

baton_error* baton_memory_set_name(const baton_memory* memory, const char* name) {
  return baton::capi::call(__func__, [&](const Call& call) {
    call.get(memory, "memory").set_name(call.text(name, "name"));
  });
}

baton_error* baton_memory_upload(const baton_memory* memory, std::size_t offset, const void* source,
                                 std::size_t bytes, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Memory& target = call.get(memory, "memory");
    call.require_bytes(source, bytes, "source");
    target.upload(source, bytes, offset, *StreamOrDefault(call, stream, target.device()));
  });
}

baton_error* baton_memory_download(const baton_memory* memory, std::size_t offset, void* target,
                                   std::size_t bytes, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Memory& source = call.get(memory, "memory");
    call.require_bytes(target, bytes, "target");
    source.download(target, bytes, offset, *StreamOrDefault(call, stream, source.device()));
  });
}

baton_error* baton_memory_copy(const baton_memory* memory, std::size_t offset,
                               const baton_memory* source, std::size_t source_offset,
                               std::size_t bytes, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Memory& target = call.get(memory, "memory");
    target.copy_from(call.get(source, "source"), bytes, source_offset, offset,
                     *StreamOrDefault(call, stream, target.device()));
  });
}

baton_error* baton_memory_fill(const baton_memory* memory, std::size_t offset, std::uint8_t byte,
                               std::size_t bytes, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const Memory& target = call.get(memory, "memory");
    target.fill(byte, 1, bytes, offset, *StreamOrDefault(call, stream, target.device()));
  });
}

void baton_memory_retain(baton_memory* memory) {
  baton::capi::retain(memory);
}

void baton_memory_release(baton_memory* memory) {
  baton::capi::release(memory);
}
