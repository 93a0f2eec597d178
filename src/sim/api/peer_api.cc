// Access of one device to the memory of another one.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/engine/judge/peer_order.h"

namespace baton::sim::api {
namespace {

// Devices of one profile are linked, as GPUs of one board are.
bool can_access(const SimDevice& device, const SimDevice& peer) {
  return &device != &peer && &device.profile() == &peer.profile();
}

std::shared_ptr<Context> peer_context(CUcontext handle) {
  SimDevice* const device = find_context(handle).device;
  require(handle != nullptr && device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  std::shared_ptr<Context> context = device->context();
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return context;
}

}  // namespace

CUresult DeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  require(can != nullptr, CUDA_ERROR_INVALID_VALUE);
  *can = can_access(device_of(device), device_of(peer)) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult CtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  const std::shared_ptr<Context> context = usable_context();
  require(flags == 0, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Context> other = peer_context(peer);
  require(can_access(device_of(context->ordinal()), device_of(other->ordinal())),
          CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  // Grids of the two overlap from here on.
  PeerOrder::instance().begin();
  context->expect_overlap();
  other->expect_overlap();
  const std::shared_ptr<DeviceMemory> memory(other->heap(), &other->heap()->memory());
  require(context->heap()->memory().add_peer(memory), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  return CUDA_SUCCESS;
}

// What is under way keeps its access.
CUresult CtxDisablePeerAccess(CUcontext peer) {
  const std::shared_ptr<Context> context = usable_context();
  const std::shared_ptr<Context> other = peer_context(peer);
  require(context->heap()->memory().remove_peer(other->heap()->memory()),
          CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  return CUDA_SUCCESS;
}

// Memory of simulated devices is of one process.
CUresult IpcGetMemHandle(CUipcMemHandle*, CUdeviceptr) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult IpcOpenMemHandle(CUdeviceptr*, CUipcMemHandle, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult IpcCloseMemHandle(CUdeviceptr) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult DeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                               CUdevice target) {
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(attribute >= CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK &&
              attribute <= CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
          CUDA_ERROR_INVALID_VALUE);
  const SimDevice& from = device_of(source);
  const SimDevice& to = device_of(target);
  require(&from != &to, CUDA_ERROR_INVALID_DEVICE);
  const bool is_of_access = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
                            attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
  *value = is_of_access && can_access(from, to) ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
