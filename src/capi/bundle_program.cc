#include "capi/buffer_role.h"
#include "capi/call.h"
#include "capi/dtype.h"

using baton::Program;
using baton::ProgramBuffer;
using baton::capi::Call;

// What a bundle's program is made of, before it is loaded for a device.

namespace baton::capi {
namespace {

const Program& program_of(const Call& call, const baton_bundle* bundle) {
  return call.get(bundle, "bundle").bundle.program();
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_bundle_kernel(const baton_bundle* bundle, std::size_t index, const char** name) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(name, "name");
    const auto& kernels = baton::capi::program_of(call, bundle).kernels();
    call.require_index(index, kernels.size(), "kernels");
    result = kernels[index].name.c_str();
  });
}

baton_error* baton_bundle_buffer(const baton_bundle* bundle, std::size_t index,
                                 baton_buffer_info* info) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& buffers = baton::capi::program_of(call, bundle).buffers();
    call.room(info, "info");
    call.require_index(index, buffers.size(), "buffers");
    const ProgramBuffer& buffer = buffers[index];
    baton_buffer_info value = BATON_BUFFER_INFO_INIT;
    value.name = buffer.name.c_str();
    value.ndim = static_cast<std::int32_t>(buffer.shape.size());
    value.role = baton::capi::role_of(buffer.role);
    value.dtype = baton::capi::to_c(buffer.dtype);
    call.write(info, value, "info");
  });
}

baton_error* baton_bundle_extent(const baton_bundle* bundle, std::size_t buffer, std::size_t axis,
                                 const char** extent) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(extent, "extent");
    const auto& buffers = baton::capi::program_of(call, bundle).buffers();
    call.require_index(buffer, buffers.size(), "buffers");
    const auto& shape = buffers[buffer].shape;
    call.require_index(axis, shape.size(), "axes");
    result = shape[axis].text().c_str();
  });
}

baton_error* baton_bundle_symbol(const baton_bundle* bundle, std::size_t index, const char** name,
                                 std::int64_t* value) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(name, "name");
    std::int64_t& number = call.result(value, "value");
    const auto& symbols = baton::capi::program_of(call, bundle).symbols();
    call.require_index(index, symbols.size(), "symbols");
    result = symbols[index].name.c_str();
    number = symbols[index].value;
  });
}
