#pragma once

#include <memory>

#include "tvm_ffi/bundle_module.h"
#include "tvm_ffi/runtime.h"

namespace baton::tvm_ffi {

// A module of tvm-ffi over the bundle. Throws Failure.
ObjectRef make_module(std::shared_ptr<BundleModule> bundle);

}  // namespace baton::tvm_ffi
