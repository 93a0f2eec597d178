#pragma once

#include <cstdint>

#include "baton.h"
#include "baton/program.h"

namespace baton::capi {

// The constant of the header.
inline std::int32_t role_of(BufferRole role) {
  switch (role) {
    case BufferRole::kScratch:
      return BATON_ROLE_SCRATCH;
    case BufferRole::kInput:
      return BATON_ROLE_INPUT;
    case BufferRole::kWeight:
      return BATON_ROLE_WEIGHT;
    case BufferRole::kOutput:
      return BATON_ROLE_OUTPUT;
    case BufferRole::kInout:
      return BATON_ROLE_INOUT;
    case BufferRole::kState:
      return BATON_ROLE_STATE;
    case BufferRole::kCache:
      return BATON_ROLE_CACHE;
  }
  return BATON_ROLE_SCRATCH;
}

}  // namespace baton::capi
