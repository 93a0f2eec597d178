#pragma once

#include "shim/cudart/api.h"

namespace baton::cudart {

// Begins a call: the driver is started, and the calling thread has a current context, the primary
// one of its device unless the program chose another. What is wrong otherwise.
cudaError_t begin();
// After the device was reset: threads retain its context anew.
void begin_anew();

// The error as the runtime gives it, kept for cudaGetLastError.
cudaError_t answer(cudaError_t error);
cudaError_t answer(CUresult result);

// cudaErrorInvalidDevice where there is no device of that number.
cudaError_t check_device(int device);

// cudaGetLastError and cudaPeekAtLastError.
cudaError_t take_last_error();
cudaError_t last_error();

// While it lives, the default stream of the calling thread's calls is the thread's own.
class OwnDefaultStream {
 public:
  OwnDefaultStream();
  ~OwnDefaultStream();
  OwnDefaultStream(const OwnDefaultStream&) = delete;
  OwnDefaultStream& operator=(const OwnDefaultStream&) = delete;
};

// The driver's stream for one of the runtime's.
CUstream stream_of(cudaStream_t stream);

}  // namespace baton::cudart

// Begins a call of the runtime, or returns why it cannot.
#define BATON_RUNTIME_BEGIN()                                                       \
  if (const cudaError_t begun_ = ::baton::cudart::begin(); begun_ != cudaSuccess) { \
    return ::baton::cudart::answer(begun_);                                         \
  }
