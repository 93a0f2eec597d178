#pragma once

#include "base/error.h"
#include "baton/device.h"
#include "runtime/device_state.h"

namespace baton {

// Which objects of two devices one call may take. A driver does not always check it: it takes the
// handle of another driver for one of its own.

// Both objects must be of one device. Throws kInvalidInput, with both devices.
inline void require_one_device(const char* one, const Device& first, const char* other,
                               const Device& second) {
  if (first == second) return;
  throw error(ErrorCode::kInvalidInput,
              "the {} belongs to {} and the {} to {}: both must belong to one device", one,
              first.spec(), other, second.spec());
}

// Two devices of one driver will do.
inline void require_one_driver(const char* one, const Device& first, const char* other,
                               const Device& second) {
  if (&first.driver() == &second.driver()) return;
  throw error(ErrorCode::kInvalidInput,
              "the {} belongs to {} and the {} to {}: no driver knows both devices", one,
              first.spec(), other, second.spec());
}

}  // namespace baton
