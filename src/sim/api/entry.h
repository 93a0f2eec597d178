#pragma once

#include <cuda.h>

#include <exception>
#include <new>

#include "baton/error.h"
#include "sim/api/refusal.h"

namespace baton::sim {

// What a caller sees of a failure inside the driver; says it in the log where no code does.
CUresult result_of(const Error& failure) noexcept;
CUresult result_of(const std::exception& failure) noexcept;

// An entry of the driver as callers see it: calls the function and lets no exception out.
template <auto kFunction>
struct Entry;
template <typename... Arguments, CUresult (*kFunction)(Arguments...)>
struct Entry<kFunction> {
  static CUresult call(Arguments... arguments) noexcept {
    try {
      return kFunction(arguments...);
    } catch (const Refusal& refusal) {
      return refusal.result();
    } catch (const std::bad_alloc&) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const Error& failure) {
      return result_of(failure);
    } catch (const std::exception& failure) {
      return result_of(failure);
    }
  }
};

}  // namespace baton::sim
