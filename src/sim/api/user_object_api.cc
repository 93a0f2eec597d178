// Objects of users that graphs keep alive.

#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

constexpr unsigned kMostReferences = 0x7fffffff;  // INT_MAX, as cuda.h says

std::shared_ptr<UserObject> object_of(CUuserObject handle, unsigned count) {
  enter();
  std::shared_ptr<UserObject> object = Objects::instance().user_objects.find(handle);
  require(object != nullptr && count != 0 && count <= kMostReferences, CUDA_ERROR_INVALID_VALUE);
  return object;
}

}  // namespace

CUresult UserObjectCreate(CUuserObject* result, void* object, CUhostFn destroy, unsigned count,
                          unsigned flags) {
  enter();
  require(result != nullptr && destroy != nullptr && count != 0 && count <= kMostReferences &&
              flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
          CUDA_ERROR_INVALID_VALUE);
  auto& known = Objects::instance().user_objects;
  known.remove_if([](const UserObject& each) { return each.is_gone(); });
  *result = known.add(std::make_shared<UserObject>(destroy, object, count));
  return CUDA_SUCCESS;
}

CUresult UserObjectRetain(CUuserObject handle, unsigned count) {
  return object_of(handle, count)->retain(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult UserObjectRelease(CUuserObject handle, unsigned count) {
  return object_of(handle, count)->release(count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count,
                               unsigned flags) {
  const std::shared_ptr<SimGraph> graph = graph_of(graph_handle);
  const std::shared_ptr<UserObject> object = object_of(handle, count);
  require((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) == 0, CUDA_ERROR_INVALID_VALUE);
  if (flags == CU_GRAPH_USER_OBJECT_MOVE) {
    require(object->has(count), CUDA_ERROR_INVALID_VALUE);
  } else {
    require(object->retain(count), CUDA_ERROR_INVALID_VALUE);
  }
  if (graph->references == nullptr) graph->references = std::make_shared<UserReferences>();
  graph->references->take(object, count);
  return CUDA_SUCCESS;
}

CUresult GraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count) {
  const std::shared_ptr<SimGraph> graph = graph_of(graph_handle);
  const std::shared_ptr<UserObject> object = object_of(handle, count);
  require(graph->references != nullptr && graph->references->release(object, count),
          CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
