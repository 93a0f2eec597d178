#pragma once

#include <memory>

#include "baton/allocator.h"
#include "capi/call.h"

namespace baton::capi {

// The functions of a caller as an allocator. Null gives null, which stands for the driver. Throws
// kInvalidInput for a struct that lacks a function. From then on `release` is called once, when
// nothing uses the allocator any more.
std::shared_ptr<Allocator> given_allocator(const Call& call, const baton_allocator* allocator);

}  // namespace baton::capi
