#include "runtime/context.h"

#include "runtime/release.h"

namespace baton {

void ContextGuard::push() {
  BATON_DRIVER_CALL(driver(), cuCtxPushCurrent, device_.context());
  pushed_ = true;
}

void ContextGuard::pop() noexcept {
  CUcontext popped = nullptr;
  BATON_RELEASE(driver(), cuCtxPopCurrent, &popped);
}

}  // namespace baton
