// The linker. What comes out is PTX: whoever loads it is this driver.

#include <memory>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "image/ptx/link_ptx.h"
#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/image_ptx.h"
#include "sim/device/jit_log.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

std::shared_ptr<LinkState> state_of(CUlinkState handle) {
  enter();
  std::shared_ptr<LinkState> state = Objects::instance().links.find(handle);
  require(state != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return state;
}

// Says what is wrong where the caller wants messages, or else in the log, and gives the driver's
// code.
CUresult refuse_link(const LinkState& state, const Error& failure) {
  state.log.write_error(failure.what());
  if (!state.log.has_error_buffer()) {
    log(LogLevel::kWarning, "the simulated GPU does not link: {}", failure.what());
  }
  return failure.code() == ErrorCode::kUnsupported ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                   : CUDA_ERROR_INVALID_PTX;
}

}  // namespace

CUresult LinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  usable_context();
  require(state != nullptr, CUDA_ERROR_INVALID_VALUE);
  *state =
      Objects::instance().links.add(std::make_shared<LinkState>(JitLog(options, values, count)));
  return CUDA_SUCCESS;
}

CUresult LinkAddData(CUlinkState handle, CUjitInputType type, void* data, size_t size,
                     const char* name, unsigned, CUjit_option*, void**) {
  const std::shared_ptr<LinkState> state = state_of(handle);
  require(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE);
  require(type >= CU_JIT_INPUT_CUBIN && type < CU_JIT_NUM_INPUT_TYPES, CUDA_ERROR_INVALID_VALUE);
  const std::string label = name != nullptr ? name : "<data>";
  const int architecture = usable_context()->profile().architecture();
  // A text need not end in a NUL; what reads images stops at one.
  std::string bytes(static_cast<const char*>(data), size);
  try {
    state->inputs.push_back({label, ptx_of_image(bytes.c_str(), architecture)});
  } catch (const Error& failure) {
    return refuse_link(*state, failure);
  }
  return CUDA_SUCCESS;
}

CUresult LinkAddFile(CUlinkState handle, CUjitInputType type, const char* path, unsigned count,
                     CUjit_option* options, void** values) {
  state_of(handle);
  require(path != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::string bytes;
  try {
    bytes = read_file(path);
  } catch (const Error&) {
    return CUDA_ERROR_FILE_NOT_FOUND;
  }
  return LinkAddData(handle, type, bytes.data(), bytes.size(), path, count, options, values);
}

// The bytes belong to the state.
CUresult LinkComplete(CUlinkState handle, void** image, size_t* size) {
  const std::shared_ptr<LinkState> state = state_of(handle);
  require(image != nullptr && !state->inputs.empty(), CUDA_ERROR_INVALID_VALUE);
  try {
    std::vector<std::shared_ptr<const ptx::ParsedModule>> modules;
    for (const LinkState::Input& input : state->inputs) {
      modules.push_back(ptx::ParsedModule::of(input.ptx, input.name));
    }
    state->result = modules.size() == 1 ? state->inputs.front().ptx : image::link_ptx(modules);
  } catch (const Error& failure) {
    return refuse_link(*state, failure);
  }
  *image = state->result.data();
  // With the NUL, as images without a size end in one.
  if (size != nullptr) *size = state->result.size() + 1;
  return CUDA_SUCCESS;
}

CUresult LinkDestroy(CUlinkState handle) {
  enter();
  const bool known = Objects::instance().links.remove(handle) != nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace baton::sim::api
